/**
 * What a span may say. There is no other attribute, and a value of another form than the one given here is not exported: no free text
 * (messages of errors, addresses, amounts, URLs, SQL, names of clients and users) gets into a trace.
 */
const forms = {
  'http.request.method': /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/,
  /** The template, not the path. */
  'http.route': /^\/[a-z0-9/_.:{}-]{0,100}$/,
  'http.response.status_code': /^[1-5]\d\d$/,
  /** A code of the gateway or the class of an error: letters alone, so that neither numbers nor tokens fit. */
  'error.type': /^[A-Za-z][A-Za-z_]{0,39}$/,
  /** tx_id or wallet_id. */
  'gateway.subject_id': /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'gateway.chain': /^[a-z][a-z0-9-]{0,39}$/,
  'gateway.workflow': /^[A-Za-z]{1,40}$/,
  'gateway.activity': /^[A-Za-z]{1,40}$/,
  'gateway.task_queue': /^[a-z][a-z0-9-]{0,49}$/,
  'gateway.attempt': /^\d{1,6}$/,
  'gateway.outcome': /^[a-z_]{1,40}$/,
  'mpc.session': /^(keygen|test|sign)$/,
  'mpc.role': /^(initiator|participant)$/,
  'mpc.node': /^[123]$/,
  /** Of JSON-RPC, or the path of a call that has none; without parameters. */
  'rpc.method': /^((GET|POST) )?[A-Za-z/][A-Za-z0-9_/:-]{0,59}$/,
  /** Host alone: user, path and query of a URL may hold an API key. */
  'server.address': /^[a-z0-9.-]{1,253}$|^\[[0-9a-f:.]{2,45}\]$/,
} as const satisfies Record<string, RegExp>;

export type AttributeName = keyof typeof forms;
export type SpanAttributes = { readonly [name in AttributeName]?: string | number | undefined };

/** In place of a value that does not have its form. */
export const refused = 'refused';

/** Those that may be exported; values of another form are replaced, undefined ones and unknown names left out. */
export function exportable(attributes: SpanAttributes): Record<string, string | number> {
  const allowed: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || !Object.hasOwn(forms, name)) continue;
    allowed[name] = forms[name as AttributeName].test(String(value)) ? value : refused;
  }
  return allowed;
}

/** Of an error, its code or its class; never its text. */
export function toErrorType(error: unknown): string {
  if (!(error instanceof Error)) return 'other';
  const { code, type } = error as { code?: unknown; type?: unknown };
  // a GatewayError has a code, an ApplicationFailure of Temporal a type; codes of the system name addresses in no case
  const named = [type, code, error.name].find((name) => typeof name === 'string' && forms['error.type'].test(name));
  return typeof named === 'string' ? named : 'other';
}
