import { type ChildProcess, spawn } from 'node:child_process';

/*
 * Reads what to do from its standard input, which closes when the process that started it ends, in whatever way. Ignores the
 * signals a terminal or a shutdown sends to everybody, since it has to outlive its parent by a moment.
 */
const script = `
trap '' HUP INT TERM
entries=''
lives() {
  kill -0 "$1" || return 1
  case "$(cat "/proc/$1/stat")" in *') Z '*) return 1 ;; esac
}
while read -r op rest; do
  case $op in
    add) entries="$entries $rest" ;;
    drop) kept=''; for e in $entries; do [ "\${e%%:*}" = "$rest" ] || kept="$kept $e"; done; entries=$kept ;;
    rm) set -- "$@" "$rest" ;;
    done) exit 0 ;;
  esac
done
for e in $entries; do kill -"\${e##*:}" "\${e%%:*}"; done
n=0
while [ $n -lt 80 ]; do
  alive=''
  for e in $entries; do lives "\${e%%:*}" && alive=1; done
  [ -z "$alive" ] && break
  sleep 0.1
  n=$((n+1))
done
for e in $entries; do kill -KILL -"\${e%%:*}"; kill -KILL "\${e%%:*}"; done
for f in "$@"; do rm -rf "$f"; done
`;

/**
 * Makes sure that nothing outlives this process, even when it is killed with SIGKILL: a shell that waits for the end of a
 * pipe, then ends the processes it was told of and removes the files it was told of.
 */
export class Reaper {
  private readonly shell: ChildProcess;

  constructor() {
    this.shell = spawn('/bin/sh', ['-c', script, 'custody-gateway-reaper'], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.shell.on('error', () => undefined);
    this.shell.stdin?.on('error', () => undefined);
    this.shell.unref();
    (this.shell.stdin as unknown as { unref(): void } | null)?.unref();
  }

  watch(pid: number, signal: NodeJS.Signals): void {
    this.tell(`add ${pid}:${signal.replace(/^SIG/, '')}`);
  }

  forget(pid: number): void {
    this.tell(`drop ${pid}`);
  }

  removeAtEnd(file: string): void {
    this.tell(`rm ${file}`);
  }

  /** Everything was ended in an orderly way: nothing is left to do. */
  dismiss(): void {
    this.tell('done');
    this.shell.stdin?.end();
  }

  private tell(line: string): void {
    this.shell.stdin?.write(`${line}\n`);
  }
}
