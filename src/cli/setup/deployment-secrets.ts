import { GatewayError } from '../../platform/errors';
import { type SecretFiles, secretFileProblem } from './secret-files';
import type { Weakness } from './weakness';

const listFile = 'setup/made.json';

interface Kept {
  create: () => string | Promise<string>;
  /** Of what is there, and of what was made. */
  weakness: Weakness;
  /** It follows from other secrets, so that it may be made again when it was lost. */
  isDerived?: boolean;
}

/**
 * The secrets of a deployment. What is there stays, unless it is to be renewed; what is missing is made, unless it was there before: then
 * something may depend on it (encrypted rows, a password of the database, what was signed), and another one would do harm.
 */
export class DeploymentSecrets {
  /** Files that this run has written. */
  readonly written: string[] = [];
  private readonly made: Set<string>;

  /** @param isRenewed whether a file is made anew although it is there; all places of a secret, or none */
  constructor(
    private readonly files: SecretFiles,
    private readonly isRenewed: (place: string) => boolean = () => false,
  ) {
    const list = files.read(listFile);
    this.made = new Set(list === undefined ? [] : readList(files.path(listFile), list));
  }

  /**
   * The secret in these files, which all have the same content: that of the first one that is there, or a new one.
   * @throws GatewayError naming the file that is weak, differs from another one, or was lost.
   */
  async keep(places: readonly [string, ...string[]], { create, weakness, isDerived = false }: Kept): Promise<string> {
    const [name] = places;
    if (this.isRenewed(name)) {
      const renewed = (await create()).trim();
      for (const place of places) await this.files.replace(place, renewed);
      this.written.push(...places);
      if (!isDerived) this.made.add(name);
      return renewed;
    }
    const found = places.flatMap((place) => {
      const content = this.files.read(place);
      return content === undefined ? [] : [{ place, content }];
    });
    const [first] = found;
    if (first === undefined && !isDerived) this.assertNeverMade(name);
    const content = first === undefined ? (await create()).trim() : first.content;
    for (const { place, content: other } of found) {
      const weak = weakness(other);
      if (weak !== null) throw secretFileProblem(this.files.path(place), weak);
      if (other !== content)
        throw secretFileProblem(
          this.files.path(place),
          `differs from ${this.files.path(first?.place ?? name)}: they have to be equal`,
        );
    }
    for (const place of places)
      if (!found.some((it) => it.place === place)) {
        await this.files.write(place, content);
        this.written.push(place);
      }
    if (!isDerived) this.made.add(name);
    return content;
  }

  /** For what is kept later: reads it, and writes nothing. @throws GatewayError naming the file if it is weak, or was lost. */
  check(name: string, weakness: Weakness): void {
    const content = this.files.read(name);
    if (content === undefined) return this.assertNeverMade(name);
    const weak = weakness(content);
    if (weak !== null) throw secretFileProblem(this.files.path(name), weak);
  }

  private assertNeverMade(name: string): void {
    if (this.made.has(name))
      throw secretFileProblem(
        this.files.path(name),
        'was made before and is missing now: restore it. What depends on it would be lost with another one',
      );
  }

  /** Remembers what there is, once all of it is. The list is replaced: it is no secret. */
  async finish(): Promise<void> {
    const list = JSON.stringify([...this.made].sort());
    if (this.files.read(listFile) !== list) await this.files.replace(listFile, list);
  }
}

function readList(file: string, text: string): string[] {
  try {
    const names: unknown = JSON.parse(text);
    if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  } catch (error) {
    throw new GatewayError('business_error', `${file} is not the list that \`gateway setup files\` has written`, {
      cause: error,
    });
  }
  throw new GatewayError('business_error', `${file} is not the list that \`gateway setup files\` has written`);
}
