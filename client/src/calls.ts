import type { Client, ClientPathsWithMethod, FetchResponse, MaybeOptionalInit } from 'openapi-fetch';
import type { paths } from './generated';

/** Types of requests and answers, by method and path of the document. */

export type Method = 'get' | 'post' | 'put' | 'delete';

export type Path<M extends Method> = ClientPathsWithMethod<Client<paths>, M>;

/** `params` (`path`, `query`, `header`), `body`, and what `fetch` takes, such as `signal`. */
export type Init<M extends Method, P extends Path<M>> = MaybeOptionalInit<paths[P], M>;

/** The body of the answer of success. */
export type Data<M extends Method, P extends Path<M>> = NonNullable<
  FetchResponse<NonNullable<paths[P][M]>, object, 'application/json'>['data']
>;

/** Left out where nothing has to be given. */
export type InitArgument<I> = undefined extends I ? [init?: I] : [init: I];

/** One request; resolves with the body of the answer. */
export type Call<M extends Method> = <P extends Path<M>>(path: P, ...init: InitArgument<Init<M, P>>) => Promise<Data<M, P>>;
