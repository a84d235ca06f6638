// Writes src/generated, and the types as they are published, from the description of the API: node generate.mjs openapi.json.
//
// JavaScript has one type of numbers, which keeps 53 bits. So rates, which have up to 34 digits, are decimal text in
// the types, and integers without a maximum `number | bigint`; src/json.ts reads them so. All amounts of payments are
// below 2^53.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const description = JSON.parse(await readFile(process.argv[2], "utf8"));
const keyword = (kind) => ts.factory.createKeywordTypeNode(ts.SyntaxKind[kind]);
const types = await openapiTS(description, {
  transform(schema) {
    if (schema.type === "number") return keyword("StringKeyword");
    if (schema.type === "integer" && !schema.format && !schema.enum)
      return ts.factory.createUnionTypeNode([keyword("NumberKeyword"), keyword("BigIntKeyword")]);
    if (schema.type === "string" && schema.format === "binary") return ts.factory.createTypeReferenceNode("Blob");
  },
});

// The names of all fields that are rates. Readers tell them from integers by their names: 1 is a rate, too.
const rates = new Set();
const others = new Set();
for (const schema of Object.values(description.components.schemas)) collect(schema);
function collect(schema) {
  for (const [name, field] of Object.entries(schema.properties ?? {})) (field.type === "number" ? rates : others).add(name);
  for (const inner of Object.values(schema)) if (inner && typeof inner === "object") collect(inner);
}
for (const name of rates) if (others.has(name)) throw new Error(`${name} is a rate in one object, and something else in another`);

const unkeyed = Object.entries(description.paths)
  .filter(([, { post }]) => post && !post.parameters?.some((parameter) => parameter.$ref === "#/components/parameters/IdempotencyKey"))
  .map(([path]) => path);

async function write(name, text) {
  const url = new URL(name, import.meta.url);
  await mkdir(new URL(".", url), { recursive: true });
  await writeFile(url, text);
}
for (const folder of ["src", "dist"]) await write(`${folder}/generated/schema.d.ts`, astToString(types));
await write("src/generated/names.ts", `/** Fields that are rates: decimal text in place of a number. */
export const rates: ReadonlySet<string> = new Set(${JSON.stringify([...rates].sort())});

/** Paths of POST operations that take no Idempotency-Key. */
export const unkeyed: ReadonlySet<string> = new Set(${JSON.stringify(unkeyed)});
`);
