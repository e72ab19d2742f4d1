// A client whose types openapi-typescript has made of the OpenAPI document. It asks a service whose address and token are its
// arguments, and prints what it gets.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const [baseUrl, token] = process.argv.slice(2);
if (baseUrl === undefined || token === undefined) throw new Error("want an address and a token");
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

function detailOf(problem: components["schemas"]["Problem"]): string {
  return `${problem.status} ${problem.detail}`;
}

const made = await client.POST("/v1/ids", { params: { query: { count: 3 } } });
if (made.error !== undefined) throw new Error(detailOf(made.error));
if (typeof made.data === "string") throw new Error("want an object");
const ids: string[] = made.data.ids;

const text = await client.POST("/v1/ids", { parseAs: "text", headers: { Accept: "text/plain" } });
const line: string | undefined = text.data;

const octets = await client.POST("/v1/ids", { parseAs: "arrayBuffer", headers: { Accept: "application/octet-stream" } });
if (octets.data === undefined) throw new Error("want bytes");
const id: bigint = new DataView(octets.data).getBigUint64(0);

const read = await client.GET("/v1/ids/{id}", { params: { path: { id: ids[0] ?? "" } } });
if (read.error !== undefined) throw new Error(detailOf(read.error));
const worker: number = read.data.worker;

const refused = await client.POST("/v1/ids", { params: { query: { count: 1_000_001 } } });
const problem = refused.error === undefined ? "none" : detailOf(refused.error);

const ready = await client.GET("/readyz", { parseAs: "text" });

console.log(JSON.stringify({ ids, line, id: id.toString(), worker, problem, ready: ready.data }));
