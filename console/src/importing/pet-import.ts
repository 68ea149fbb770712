import type { Petstore, PetstoreError } from "petstore-client";
import { createPetBody, deletePetsMost, importPetsMost } from "../generated/contract.ts";
import { isCertain } from "../service/action.ts";
import { interruption } from "../service/connection.ts";
import { uniqueText } from "../service/unique-text.ts";
import type { FileAnimal, LineFault } from "./read-animals.ts";

/** How long a request may wait for the limits, in milliseconds: a day. */
const REQUEST_TIMEOUT = 86_400_000;

/** An animal that was added, and the line that it comes from. */
interface Added {
  readonly id: bigint;
  readonly line: number;
  readonly name: string;
}

/** Some animals in one request, which adds all of them or none. */
interface Part {
  readonly animals: readonly FileAnimal[];
  readonly isSkipping: boolean;
  readonly idempotencyKey: string;
}

const detailsOf = (error: unknown) => (error as PetstoreError).details ?? [];

/**
 * The import of a file: what was added so far, and how that is undone. Its parts are sent in sequence, so that the
 * animals get their ids in the order of the file.
 */
export class PetImport {
  readonly #petstore: Petstore;
  readonly #rest: FileAnimal[];
  readonly #onChange: () => void;
  readonly #onExisting: "skip" | "update";
  #size = importPetsMost;
  /** The part that was sent last, while it is not certain whether its animals were added. */
  #part: Part | undefined;
  /** True if the part has most likely not arrived, because a limit has stopped it. */
  #isLimited = false;
  #isSkipping = false;
  #request = new AbortController();
  /** How many animals the file has. */
  readonly total: number;
  readonly added: Added[] = [];
  /** How many animals existed, by their reference, and were updated or left as they are. */
  existing = 0;
  /** The faults of animals that the service has left out. */
  readonly skipped: LineFault[] = [];
  /** The faults for which the service has refused the last part. */
  refused: readonly LineFault[] = [];
  /** Animals that were not taken back, because of an order. */
  readonly kept: Added[] = [];
  isStopping = false;

  constructor(petstore: Petstore, animals: readonly FileAnimal[], onChange: () => void, updatesExisting = false) {
    this.#onExisting = updatesExisting ? "update" : "skip";
    this.#petstore = petstore;
    this.#rest = [...animals];
    this.#onChange = onChange;
    this.total = animals.length;
  }

  /** One that is over, so that it can be taken back. */
  static over(petstore: Petstore, ids: readonly bigint[]): PetImport {
    const all = new PetImport(petstore, [], () => {});
    all.added.push(...ids.map((id) => ({ id, line: 0, name: `Animal ${id}` })));
    return all;
  }

  /** How many animals have been added or left out. */
  get done(): number {
    return this.total - this.#rest.length;
  }

  get isComplete(): boolean {
    return this.#rest.length === 0;
  }

  /** The lines of the part of which it is not known whether its animals were added. */
  get unknownLines(): readonly [first: number, last: number] | undefined {
    const { animals = [] } = (!this.#isLimited && this.#part) || {};
    const [first, last] = [animals[0], animals.at(-1)];
    return first && last && [first.line, last.line];
  }

  /** Adds the rest, until `stop`. After `isSkipping`, animals that the service rejects are left out. */
  async run(isSkipping: boolean): Promise<void> {
    this.#isSkipping ||= isSkipping;
    this.isStopping = false;
    this.#request = new AbortController();
    this.refused = [];
    while (!this.isComplete && !this.isStopping) await this.#send();
  }

  /** Stops after the current part, or at once if that waits. */
  stop(): void {
    this.isStopping = true;
    this.#onChange();
    const { signal } = this.#request;
    const look = () => {
      if (interruption.value) this.#request.abort();
    };
    signal.addEventListener("abort", interruption.watch(look));
    look();
  }

  /** Stops at once, because the page is left. */
  leave(): void {
    this.isStopping = true;
    this.#request.abort();
  }

  /** Sends the next part, or again the one of which it is not known whether it arrived. */
  async #send(): Promise<void> {
    this.#part ??= {
      animals: this.#rest.slice(0, this.#size),
      isSkipping: this.#isSkipping,
      idempotencyKey: uniqueText(),
    };
    const { animals, idempotencyKey, isSkipping } = this.#part;
    const body = {
      animals: animals.map((animal) => animal.body),
      ...(isSkipping && { onError: "skip" as const }),
      ...(animals.some((animal) => animal.body.reference) && { onExisting: this.#onExisting }),
    };
    const options = { idempotencyKey, timeout: REQUEST_TIMEOUT, signal: this.#request.signal };
    try {
      const result = await this.#petstore.importPets(body, options);
      for (const { index, id, outcome } of result.animals) {
        if (outcome !== "created") {
          this.existing++;
          continue;
        }
        const { line, body: pet } = animals[index] as FileAnimal;
        this.added.push({ id, line, name: pet.name });
      }
      this.skipped.push(...result.faults.map(({ index, path, message }) => faultOf(animals[index], path, message)));
      this.#rest.splice(0, animals.length);
      this.#part = undefined;
      this.#onChange();
    } catch (error) {
      if (isCertain(error)) this.#part = undefined;
      this.#isLimited = /^(limited|banned)$/.test(`${interruption.value?.kind}`);
      if (this.#request.signal.aborted) return;
      if ((error as PetstoreError).status === 413 && animals.length > 1) {
        this.#size = Math.ceil(animals.length / 2); // long metadata
        return;
      }
      this.refused = detailsOf(error).flatMap(({ path, message }) => {
        const [, index, rest = ""] = /^\/body\/animals\/(\d+)(.*)/.exec(path) ?? [];
        return index === undefined ? [] : [faultOf(animals[Number(index)], rest, message)];
      });
      throw error;
    }
  }

  /** Deletes what was added, the newest first. Animals that an order reserves or has sold by then stay. */
  async undo(): Promise<void> {
    this.#request = new AbortController();
    // Only the same request again tells whether its animals were added.
    if (this.#part) await this.#send().catch((error: unknown) => this.#part && Promise.reject(error));
    let size = deletePetsMost;
    while (this.added.length > 0) {
      const part = this.added.slice(-size);
      try {
        const ids = part.map(({ id }) => id);
        await this.#petstore.deletePets({ ids }, { timeout: REQUEST_TIMEOUT, signal: this.#request.signal });
        this.added.splice(-part.length);
      } catch (error) {
        const { code, status } = error as PetstoreError;
        if (status === 413 && part.length > 1) {
          size = Math.ceil(part.length / 2); // long metadata
          continue;
        }
        if (code !== "pets_not_deletable") throw error;
        for (const { path } of detailsOf(error)) {
          const held = part[Number(path.split("/").at(-1))] as Added;
          this.kept.push(held);
          this.added.splice(this.added.indexOf(held), 1);
        }
      }
      this.#onChange();
    }
  }
}

/** A fault as the service describes it, in the words of `readAnimals`. */
function faultOf(animal: FileAnimal | undefined, path: string, message: string): LineFault {
  const [, name = "", ...rest] = path.split("/");
  const label = createPetBody.find((field) => field.name === name)?.label ?? name;
  return { line: (animal as FileAnimal).line, message: `${[label, ...rest].join("/")}: ${message}.` };
}
