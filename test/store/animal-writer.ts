// Changes animals in the store that the settings name, like a command of an operator: one for each line of its input.
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import { operator } from "../../src/domains/events/publish.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";
import { unchecked } from "../harness/unchecked-pets.ts";

const storage = await openStorage(readConfig(process.env));
const pets = new PetStore(storage, unchecked);
for await (const line of console) {
  if (line === "") break; // the end of its input
  const { shop, id, patch } = JSON.parse(line);
  await storage.write(() => pets.update(operator(shop), BigInt(id), patch, () => true));
  console.log("acknowledged");
}
await storage.close();
