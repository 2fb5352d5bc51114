import { type ChildProcess, spawn } from 'node:child_process';

/*
 * Reads commands from its standard input, which closes when the parent process ends for any reason. Ignores the signals that a terminal
 * or a shutdown sends to all processes, since it must run a little longer than its parent.
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
 * Ends the child processes when this process ends, even by SIGKILL: a shell waits for the end of a pipe, then ends the registered
 * processes and removes the registered files.
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
    this.send(`add ${pid}:${signal.replace(/^SIG/, '')}`);
  }

  forget(pid: number): void {
    this.send(`drop ${pid}`);
  }

  removeAtEnd(file: string): void {
    this.send(`rm ${file}`);
  }

  /** After an orderly shutdown: the shell exits without action. */
  dismiss(): void {
    this.send('done');
    this.shell.stdin?.end();
  }

  private send(line: string): void {
    this.shell.stdin?.write(`${line}\n`);
  }
}
