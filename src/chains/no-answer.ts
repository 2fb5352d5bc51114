/** There is no usable response in time. The message names neither host nor key. Every other error of a call is in what the endpoint has answered. */
export class NoAnswer extends Error {}

/** The endpoint limits requests, or too many wait for it already: that passes, and says nothing about what was asked. */
export class LimitedRequests extends NoAnswer {}
