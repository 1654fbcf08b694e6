// Networks asked as the page asks them: {data, asks: [[method, …arguments]]} per line → a list of answers per line, infinities by name.
import { createInterface } from "node:readline";
import { openNetwork } from "../../../../src/merula/web/page/script/network/model.js";

function plain(key, value) {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof Float64Array) return Array.from(value, (one) => plain("", one));
  return value instanceof Set ? [...value] : value;
}

function answered(network, [method, ...given]) {
  try {
    return network[method](...given);
  } catch (error) {
    return { error: error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { data, asks } = JSON.parse(line);
  const network = openNetwork(data);
  console.log(JSON.stringify(asks.map((ask) => answered(network, ask)), plain));
}
