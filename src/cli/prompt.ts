import { createInterface } from 'node:readline';
import { CommandFailed } from './session';

const inputTimeoutMs = 10 * 60_000;

/** Prints a question and returns the entered line, trimmed. @throws CommandFailed when there is none. */
export type Ask = (question: string) => Promise<string>;

/** Lets `work` ask questions on the terminal, or read the answers from a pipe. Questions go to stderr, so that stdout has only results. */
export async function withPrompt<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  const { stdin: input, stderr: output } = process;
  const reader = createInterface({
    input,
    output,
    terminal: input.isTTY && output.isTTY,
    signal: AbortSignal.timeout(inputTimeoutMs),
  });
  // one iterator for all questions: it buffers lines that arrive together
  const lines = reader[Symbol.asyncIterator]();
  try {
    return await work(async (question) => {
      output.write(question);
      const line = await lines.next();
      if (line.done === true) throw new CommandFailed('nothing was entered');
      return line.value.trim();
    });
  } finally {
    reader.close();
  }
}
