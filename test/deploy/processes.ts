import { readFileSync, readlinkSync } from 'node:fs';

/** Of these, the processes that containers were started for: children of the program with which buildah enters its root. */
export const mainProcesses = (pids: readonly number[]): number[] =>
  pids.filter((pid) => !isOfBuildah(pid) && isBuildahChild(pid));

const programOf = (pid: number): string => {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return '';
  }
};

const isOfBuildah = (pid: number): boolean => /^\/memfd:buildah|\/buildah$/.test(programOf(pid));

function isBuildahChild(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // after the name, which may itself contain spaces and parentheses: state, then parent
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return programOf(parent).startsWith('/memfd:buildah-chroot-exec');
  } catch {
    return false;
  }
}
