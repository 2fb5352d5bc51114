import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Reads committed histories: what each run has gone through, in words, and how it ended. */

const folder = path.join(__dirname, 'histories');

interface Payloads {
  payloads?: { data?: string }[];
}

interface Failure {
  applicationFailureInfo?: { type?: string };
  cause?: Failure;
}

/** The attributes that are read here, of any type of event. */
interface Attributes {
  activityType?: { name: string };
  input?: Payloads;
  result?: Payloads;
  failure?: Failure;
  details?: Record<string, Payloads>;
  scheduledEventId?: string;
  signalName?: string;
  acceptedRequest?: { input?: { name?: string } };
  workflowType?: { name: string };
}

interface HistoryEvent {
  eventId: string;
  eventType: string;
  [attributes: `${string}EventAttributes`]: Attributes;
}

export interface History {
  events: HistoryEvent[];
}

export interface Run {
  workflow: string;
  /** `<activity>[ <kind>]: <answer>`, signals, updates and timers, in their order. */
  steps: string[];
  /** Status and code of a transfer; `completed` for the others, or `continued`; `open` for a run that waits. */
  end: string;
}

export const historyNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => path.basename(file, '.json'))
  .sort();

export const readHistory = (name: string): History =>
  JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as History;

export function readRun(name: string): Run {
  const { events } = readHistory(name);
  /** What was asked, by the number of the event that asked it. */
  const asked = new Map<string, string>();
  const steps: string[] = [];
  for (const event of events) {
    const attributes = attributesOf(event);
    const type = event.eventType.replace('EVENT_TYPE_', '');
    if (type === 'ACTIVITY_TASK_SCHEDULED') asked.set(event.eventId, question(attributes));
    const step = describe(type, attributes, asked.get(attributes.scheduledEventId ?? '') ?? '');
    if (step) steps.push(step);
  }
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) throw new Error(`${name} has no events`);
  return { workflow: attributesOf(first).workflowType?.name ?? '', steps, end: describeEnd(last) };
}

const attributesOf = (event: HistoryEvent): Attributes =>
  Object.entries(event).find(([key]) => key.endsWith('EventAttributes'))?.[1] as Attributes;

const question = ({ activityType, input }: Attributes): string => {
  const kind = decode<{ kind?: string }>(input)?.kind;
  return [activityType?.name, kind].filter(Boolean).join(' ');
};

function describe(type: string, attributes: Attributes, activity: string): string | undefined {
  switch (type) {
    case 'ACTIVITY_TASK_COMPLETED':
      return `${activity}: ${answer(attributes.result)}`;
    case 'ACTIVITY_TASK_FAILED':
      return `${activity}: failed`;
    case 'ACTIVITY_TASK_TIMED_OUT':
      return `${activity}: timed out`;
    case 'ACTIVITY_TASK_CANCEL_REQUESTED':
      return `${activity}: cancelled`;
    case 'MARKER_RECORDED':
      return describeLocal(attributes);
    case 'WORKFLOW_EXECUTION_SIGNALED':
      return `signal ${attributes.signalName}`;
    case 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED':
      return `update ${attributes.acceptedRequest?.input?.name}`;
    case 'WORKFLOW_EXECUTION_CANCEL_REQUESTED':
      return 'cancellation of the run';
    case 'TIMER_FIRED':
      return 'timer';
  }
}

/** Local activities are markers. */
function describeLocal({ details, failure }: Attributes): string | undefined {
  const name = decode<{ activity_type: string }>(details?.['data'])?.activity_type;
  // of `patched`
  if (name === undefined) return undefined;
  return `${name}: ${failure ? 'failed' : answer(details?.['result'])}`;
}

/** The fields in which activities and workflows say what has come of it. */
interface Answer {
  outcome?: string;
  status?: string;
  state?: string;
  code?: string | null;
  accepted?: boolean;
}

function answer(result: Payloads | undefined): string {
  const value = decode<Answer | boolean>(result);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const { outcome, status, state, accepted } = value ?? {};
  return outcome ?? status ?? state ?? (accepted === undefined ? 'done' : accepted ? 'accepted' : 'not accepted');
}

function decode<T>(payloads: Payloads | undefined): T | null {
  const data = payloads?.payloads?.[0]?.data;
  return data ? (JSON.parse(Buffer.from(data, 'base64').toString()) as T) : null;
}

function describeEnd(event: HistoryEvent): string {
  const { result, failure } = attributesOf(event);
  switch (event.eventType.replace('EVENT_TYPE_WORKFLOW_EXECUTION_', '')) {
    case 'COMPLETED': {
      const { status, code } = decode<Answer>(result) ?? {};
      return [status ?? 'completed', code].filter(Boolean).join(' ');
    }
    case 'FAILED':
      return `FAILED ${(failure?.applicationFailureInfo ?? failure?.cause?.applicationFailureInfo)?.type}`;
    case 'CONTINUED_AS_NEW':
      return 'continued';
    default:
      return 'open';
  }
}
