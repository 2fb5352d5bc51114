import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a test looks at it. */
export interface ReceivedSpan {
  process: string;
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  /** 2 is an error. */
  status: number;
  attributes: Record<string, string | number>;
}

interface KeyValue {
  key: string;
  value: { stringValue?: string; intValue?: number | string; doubleValue?: number };
}
interface ExportRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: {
      spans: (Omit<ReceivedSpan, 'status' | 'attributes'> & { attributes?: KeyValue[]; status?: { code?: number } })[];
    }[];
  }[];
}

const toRecord = (attributes: KeyValue[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? Number(intValue ?? doubleValue),
    ]),
  );

/** The newest that are kept: a whole run of tests sends many more. */
const maxKept = 50_000;

/** Takes spans by OTLP over HTTP with JSON, as a collector does, and shows them at `GET /spans?trace=<trace id>`. */
export class SpanReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Everything that was received, the first 64 MB as it was. */
  text = '';
  readonly headers: NodeJS.Dict<string | string[]>[] = [];
  /** Does not answer while it is true. */
  isSilent = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(port = 0): Promise<SpanReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const receiver = new SpanReceiver(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request, response) => {
      const { searchParams, pathname } = new URL(request.url ?? '', receiver.url);
      if (request.method === 'GET') {
        const trace = searchParams.get('trace');
        return void response.end(JSON.stringify(receiver.spans.filter(({ traceId }) => trace === null || traceId === trace)));
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (receiver.isSilent) return;
        if (pathname !== '/v1/traces') return void response.writeHead(404).end();
        receiver.headers.push(request.headers);
        receiver.take(Buffer.concat(chunks).toString('utf8'));
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    return receiver;
  }

  /** Once there is a span of the name. */
  async find(name: string, timeoutMs = 10_000): Promise<ReceivedSpan> {
    for (const end = Date.now() + timeoutMs; ;) {
      const found = this.spans.find((span) => span.name === name);
      if (found) return found;
      if (Date.now() > end) throw new Error(`no span ${name} among ${this.spans.map((span) => span.name).join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private take(body: string): void {
    if (this.text.length < 64e6) this.text += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
      const of = toRecord(resource.attributes);
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push({
          process: String(of['gateway.process']),
          service: String(of['service.name']),
          name: span.name,
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId ?? '',
          status: span.status?.code ?? 0,
          attributes: toRecord(span.attributes),
        });
    }
    this.spans.splice(0, this.spans.length - maxKept);
  }
}
