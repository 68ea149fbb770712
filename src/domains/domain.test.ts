import { expect, test } from "bun:test";
import { settings } from "../config/service-settings.ts";
import { readConfig, valuesOf } from "../config.ts";
import { optionalSetting, readSettings, setting, trueOrFalse } from "../settings/setting.ts";
import { checkDomains, type Domain, settingsOf } from "./domain.ts";
import { petCreated, petOperations } from "./pets/pets.operations.ts";
import { listenCommand } from "./webhooks/listen/listen.command.ts";

const toySettings = {
  PETSTORE_TOY_SHELVES: setting<number>({
    meaning: "How many shelves there are.",
    fallback: "3",
    expects: "a digit",
    parse: (text) => (/^[0-9]$/.test(text) ? Number(text) : undefined),
  }),
  PETSTORE_TOY_NAME: optionalSetting<string>({ meaning: "A name.", expects: "a name", parse: (text) => text }),
};
const toys = { name: "toys", operations: [], settings: toySettings };

/** What is said of domains that cannot be served. */
function faultOf(...domains: Omit<Domain, "open">[]): string {
  try {
    checkDomains(domains, Object.keys(settings));
    return "";
  } catch (error) {
    return (error as Error).message.split("  - ").slice(1).join("");
  }
}

test("settings of a domain are read and suggested with those of the service", () => {
  const declared = settingsOf([toys]);
  const read = (environment: Record<string, string>) => valuesOf(readConfig(environment, "/", declared), toySettings);
  expect(read({})).toEqual({ PETSTORE_TOY_SHELVES: 3, PETSTORE_TOY_NAME: undefined } as never);
  expect(read({ PETSTORE_TOY_SHELVES: "5", PETSTORE_TOY_NAME: "Bo" })).toEqual({
    PETSTORE_TOY_SHELVES: 5,
    PETSTORE_TOY_NAME: "Bo",
  });
  expect(() => read({ PETSTORE_TOY_SHELFS: "5" })).toThrow("Did you mean PETSTORE_TOY_SHELVES?");
  expect(() => read({ PETSTORE_TOY_SHELVES: "many" })).toThrow('is "many", but must be a digit.');
});

test("a configuration that was read without a domain has the defaults of its settings", () => {
  expect(valuesOf(readConfig({}), toySettings)).toEqual({ PETSTORE_TOY_SHELVES: 3, PETSTORE_TOY_NAME: undefined });
});

test("incompatible domains are refused in one sentence each", () => {
  const badSettings = {
    PETSTORE_PORT: setting<boolean>({ meaning: "", fallback: "no", ...trueOrFalse }),
    toyShelves: toySettings.PETSTORE_TOY_NAME,
  };
  expect(faultOf(toys)).toBe("");
  expect(faultOf(toys, { name: "toys", operations: [] })).toBe("toys: two domains have this name.");
  expect(faultOf(toys, { ...toys, name: "more" }).split("\n")[0]).toBe(
    "PETSTORE_TOY_SHELVES: this setting is declared twice.",
  );
  expect(faultOf({ ...toys, settings: badSettings })).toBe(
    "PETSTORE_PORT: this setting is declared twice.\n" +
      "PETSTORE_PORT: its fallback is not true or false.\n" +
      "toyShelves: a setting is named like PETSTORE_NAME.",
  );
  const one = { name: "one", operations: [] };
  const other = { name: "other", operations: [] };
  const commands = [listenCommand];
  expect(faultOf({ ...one, commands }, { ...other, commands })).toBe("listen: two commands have this name.");
  const eventTypes = [petCreated];
  expect(faultOf({ ...one, eventTypes }, { ...other, eventTypes })).toBe(
    "pet.created: two event types have this name.",
  );
  const operations = petOperations.filter(({ name }) => name === "createPet");
  expect(faultOf({ ...one, operations }, { ...other, eventTypes })).toBe("");
  expect(faultOf({ ...one, operations })).toBe(
    "createPet: it emits pet.created, which no domain declares; add it to the eventTypes of one.",
  );
});

test("a value that a setting parses to no number is refused", () => {
  const shelves = setting<number>({ meaning: "Shelves.", fallback: "3", expects: "a digit", parse: Number });
  const { faults } = readSettings({ PETSTORE_TOY_SHELVES: "many" }, { PETSTORE_TOY_SHELVES: shelves });
  expect(faults).toEqual(['PETSTORE_TOY_SHELVES is "many", but must be a digit.']);
});
