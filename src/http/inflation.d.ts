declare module 'inflation' {
  import type { IncomingMessage } from 'node:http';
  import type { Readable } from 'node:stream';

  /** The decoded body of a request, by its Content-Encoding. @throws Error with status 415 for an unknown one. */
  export default function inflate(request: IncomingMessage): Readable;
}
