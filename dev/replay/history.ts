/** Reads the history of a workflow, as Temporal writes it in JSON: what the run has gone through, in words, and how it ended. */

interface Payloads {
  payloads?: { data?: string }[];
}

interface Failure {
  applicationFailureInfo?: { type?: string };
  cause?: Failure;
}

/** The attributes that are read here, of any type of event. */
interface Attributes {
  startToFireTimeout?: string;
  activityType?: { name: string };
  input?: Payloads;
  result?: Payloads;
  failure?: Failure;
  details?: Record<string, Payloads>;
  scheduledEventId?: string;
  startedEventId?: string;
  /** Of the results of a workflow task. */
  workflowTaskCompletedEventId?: string;
  signalName?: string;
  acceptedRequest?: { input?: { name?: string } };
  workflowType?: { name: string };
}

export interface HistoryEvent {
  eventId: string;
  eventType: string;
  eventTime: string;
  [attributes: `${string}EventAttributes`]: Attributes;
}

export interface History {
  events: HistoryEvent[];
}

export interface Step {
  eventId: string;
  /** ISO 8601. */
  at: string;
  /** `<activity>[ <kind>]: <answer>`, a signal, an update or a timer. */
  text: string;
}

export interface Run {
  workflow: string;
  /** In their order. */
  steps: Step[];
  /** Status and code of a transfer; `completed` for the others, or `continued`; `open` for a run that waits. */
  end: string;
}

/** @throws Error when it has no events. */
export function readRun({ events }: History): Run {
  /** What was asked, by the number of the event that asked it. */
  const asked = new Map<string, string>();
  const steps: Step[] = [];
  for (const event of events) {
    const attributes = attributesOf(event);
    const type = typeOf(event);
    if (type === 'ACTIVITY_TASK_SCHEDULED') asked.set(event.eventId, question(attributes));
    const step = describe(type, attributes, asked.get(attributes.scheduledEventId ?? '') ?? '');
    if (step) steps.push({ eventId: event.eventId, at: event.eventTime, text: step });
  }
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last) throw new Error('the history has no events');
  return { workflow: attributesOf(first).workflowType?.name ?? '', steps, end: describeEnd(last) };
}

const typeOf = ({ eventType }: HistoryEvent): string => eventType.replace('EVENT_TYPE_', '');

/** What the workflow had asked for, or what had come to it, in the same words; else the type of the event. */
export function describeEvent(event: HistoryEvent): string {
  const attributes = attributesOf(event);
  const type = typeOf(event);
  if (type === 'ACTIVITY_TASK_SCHEDULED') return `activity ${question(attributes)}`;
  if (type === 'TIMER_STARTED') return `timer of ${attributes.startToFireTimeout}`;
  if (type === 'MARKER_RECORDED') {
    const step = describeMarker(attributes);
    return step.startsWith('patched') ? step : `local activity ${step}`;
  }
  return describe(type, attributes, '') ?? type.toLowerCase().replaceAll('_', ' ');
}

export const attributesOf = (event: HistoryEvent): Attributes =>
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
      return describeMarker(attributes);
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

/** Local activities are markers, and so is each change of the workflow that a run has met (`patched`). */
function describeMarker({ details, failure }: Attributes): string {
  const change = decode<{ id: string }>(details?.['patch-data']);
  if (change) return `patched ${change.id}`;
  const name = decode<{ activity_type: string }>(details?.['data'])?.activity_type;
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
