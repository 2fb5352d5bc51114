import { readFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';

/** Which lines of workflows/ a replay has run through. */

const root = path.resolve(__dirname, '../..');

/** Bytes of the bundle that were executed while `run` ran, by V8's own count. Only code in this thread is counted. */
async function executed(codePath: string, length: number, run: () => Promise<void>): Promise<Uint8Array> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const reached = new Uint8Array(length);
  for (const script of result.filter(({ url }) => url.endsWith(codePath))) mark(reached, script);
  return reached;
}

/** Inner ranges come after the ones that contain them, and count instead of them. */
function mark(reached: Uint8Array, { functions }: Profiler.ScriptCoverage): void {
  const once = new Uint8Array(reached.length);
  const ranges = functions.flatMap((one) => one.ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ranges) once.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  once.forEach((is, at) => (reached[at] ||= is));
}

/** Lines of workflows/, as `<file>: <text>`, of which `run` has not reached a part. */
export async function findUnreached(codePath: string, run: () => Promise<void>): Promise<string[]> {
  const code = readFileSync(codePath, 'utf8');
  const reached = await executed(codePath, code.length, run);
  const encoded = /\n\/\/# sourceMappingURL=data:[^,]*,(.*)\s*$/.exec(code)?.[1] ?? '';
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString()) as SourceMapPayload);
  const unreached = new Set<string>();
  let start = 0;
  for (const [number, line] of code.split('\n').entries()) {
    for (let column = 0; column < line.length; column += 1) {
      if (reached[start + column] || line[column] === ' ') continue;
      const place = map.findEntry(number, column);
      if ('originalSource' in place) unreached.add(`${place.originalSource}:${place.originalLine}`);
    }
    start += line.length + 1;
  }
  return [...unreached].flatMap(toText);
}

/** Braces alone are not code. */
function toText(place: string): string[] {
  const [, file, line] = /\/(workflows\/(?!.*node_modules).*\.ts):(\d+)$/.exec(place) ?? [];
  if (!file) return [];
  const text = readFileSync(path.join(root, file), 'utf8').split('\n')[Number(line)]?.trim() ?? '';
  return /\w/.test(text) ? [`${file}: ${text}`] : [];
}
