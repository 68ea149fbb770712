import type { Category, Petstore } from "petstore-client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FILTERED, findPets, PETS } from "../animals/pets.ts";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { Names, NewCategories } from "../categories/new-categories.tsx";
import { type Action, useAction } from "../service/action.ts";
import { logNumber } from "../service/live.ts";
import { invalidate, useQuery } from "../service/query.ts";
import { shopOf, useMay, useSession } from "../session/session.ts";
import { useCurrency } from "../shop/price-control.tsx";
import { askFirst } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { type Money, moneyOf } from "../ui/money.ts";
import { Segments } from "../ui/segments.tsx";
import { Status } from "../ui/status.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { say, sayFailure } from "../ui/toasts.tsx";
import { countOf, numberOf } from "../ui/words.ts";
import { useRerender, useWatchable, Watchable } from "../watchable.ts";
import { PetImport } from "./pet-import.ts";
import { type FileAnimal, type FileAnimals, type LineFault, readAnimals } from "./read-animals.ts";
import { digestOf, type ImportRecord, idsIn, importRecords, keepRecord, rangesOf } from "./records.ts";

/** How many different faults are shown, each with the lines that have it. */
const FAULTS_SHOWN = 20;
const ROWS_SHOWN = 5;
const TITLE = "Import animals";

const isOpen = new Watchable(false);

/** Opens the dialog in which a file is imported. */
export const startImport = (): void => isOpen.set(true);

/** What is kept of an import, but what it has added. */
type About = Omit<ImportRecord, "ids" | "count">;

const keep = (about: About, { added }: PetImport) => {
  invalidate(PETS);
  keepRecord({ ...about, ids: rangesOf(added.map(({ id }) => id)), count: added.length });
};

/** Takes an import back, after a question. Animals that are reserved or sold by then stay. */
function undoImport(about: About, one: PetImport): void {
  const many = one.unknownLines ? "the animals" : countOf(one.added.length, "animal");
  const run = () => {
    const unwatch = logNumber.watch(() => one.leave()); // after a reset of the sandbox, the ids would name other animals
    say(`Deleting ${many}…`);
    void one
      .undo()
      .then(
        () => {
          const stayed = one.kept.map(({ name }) => name).join(", ");
          say(`The import is undone${stayed && `, but for ${stayed}`}`);
        },
        (error: unknown) => sayFailure("Not all animals were deleted", error),
      )
      .finally(() => {
        unwatch();
        keep(about, one);
      });
  };
  askFirst({
    title: "Undo the import?",
    text: (
      <>
        {many} of <bdi>{about.file}</bdi> will be deleted. Those that are reserved or sold stay.
      </>
    ),
    submit: `Delete ${many}`,
    run,
  });
}

/** Takes an earlier import back. */
export const undoRecorded = (petstore: Petstore, record: ImportRecord): void =>
  undoImport(record, PetImport.over(petstore, idsIn(record)));

/** The dialog of the import, wherever it was started. */
export function Importing() {
  const close = () => isOpen.set(false);
  useEffect(() => close, []);
  return useWatchable(isOpen) ? <ImportPets onClose={close} /> : null;
}

interface ChosenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/** Adds the animals of a CSV file, after the user has seen what it holds, and takes them back. */
function ImportPets({ onClose }: { readonly onClose: () => void }) {
  const { petstore, key } = useSession();
  const may = useMay();
  const rerender = useRerender();
  const query = useCategories();
  const { data: categories } = query;
  const currency = useCurrency();
  const [chosen, setChosen] = useState<ChosenFile>();
  const [updates, setUpdates] = useState(false);
  const file = useMemo(
    // What a shop adds is for sale, unless the file says something else. What is updated stays as it is.
    () => chosen && categories && readAnimals(chosen.bytes, categories, currency, updates ? "" : "available"),
    [chosen, categories, currency, updates],
  );
  const { current: running } = useRef<{ import?: PetImport; faults?: readonly LineFault[]; at: number }>({ at: 0 });
  useEffect(() => {
    const unwatch = logNumber.watch(onClose); // after a reset of the sandbox, the ids would name other animals
    return () => {
      unwatch();
      running.import?.leave();
    };
  }, []);

  const choose = async (picked: File | undefined) => {
    if (!picked) return;
    const bytes = new Uint8Array(await picked.arrayBuffer());
    setChosen({ name: picked.name, bytes, digest: digestOf(bytes) });
  };
  const about = chosen && { shop: shopOf(key), file: chosen.name, at: running.at, digest: chosen.digest };
  const adding = useAction(async (isSkipping: boolean) => {
    running.faults ??= file?.faults ?? [];
    running.at ||= Date.now();
    running.import ??= new PetImport(petstore, file?.animals ?? [], () => rerender(), updates);
    const one = running.import;
    await one.run(isSkipping).finally(() => about && keep({ ...about, at: running.at }, one));
  });

  const started = running.import;
  if (started && about) {
    const leave = () => (adding.isRunning ? started.stop() : onClose());
    return (
      <Dialog title={TITLE} onClose={leave} ignoresEscape={!adding.isRunning}>
        <Outcome
          of={started}
          file={about.file}
          left={running.faults ?? []}
          adding={adding}
          undo={() => {
            onClose();
            undoImport(about, started);
          }}
          close={onClose}
        />
      </Dialog>
    );
  }
  const faulty = new Set(file?.faults.map(({ line }) => line)).size;
  const count = file?.animals.length ?? 0;
  return (
    <Dialog title={TITLE} onClose={onClose}>
      <div class="import">
        <div class="field">
          <label for="csv">CSV file</label>
          <input
            id="csv"
            type="file"
            accept=".csv,text/csv"
            disabled={!categories}
            aria-describedby="csv-hint"
            onClick={({ currentTarget }) => (currentTarget.value = "")} // so that the same file can be chosen again
            onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
          />
          <p id="csv-hint" class="fine">
            The first line names the columns: name and category, and perhaps price, reference and status.
          </p>
        </div>
        {file && categories && chosen && (
          <>
            <SameContent as={chosen} />
            <FaultyLines of={file.faults} />
            {may("createCategory") && file.unknownNames.length > 0 && <NewCategories names={file.unknownNames} />}
            <UnknownIds of={[...file.unknownIds]} />
            {file.leftOut.length > 0 && (
              <p class="note">
                {file.leftOut.length === 1 ? "This column is left out: " : "These columns are left out: "}
                <Names of={file.leftOut} />
              </p>
            )}
            {file.animals.some(({ body }) => body.reference) && (
              <div class="filters">
                <span>Animals whose reference exists</span>
                <Segments
                  label="Animals whose reference exists"
                  choices={[
                    ["", "Leave as they are"],
                    ["update", "Update"],
                  ]}
                  chosen={updates ? "update" : ""}
                  choose={(how) => setUpdates(how === "update")}
                />
              </div>
            )}
            {count > 0 && <Preview of={file} categories={categories} />}
            <p role="status">
              {`${countOf(count, "animal")} in the file${count > ROWS_SHOWN ? `, of which the first ${ROWS_SHOWN} are shown` : ""}`}
            </p>
          </>
        )}
        <ErrorNote error={query.error} retry={query.reload} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            class="main"
            disabled={count === 0 || file?.isBroken}
            onClick={() => void adding.run(faulty > 0)}
          >
            {faulty > 0 && count > 0 && !file?.isBroken
              ? `Skip ${countOf(faulty, "faulty row")}, import the rest`
              : "Import"}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

/** Warns of a file whose content was imported in the last days. */
function SameContent({ as: { digest } }: { readonly as: ChosenFile }) {
  const { key, petstore } = useSession();
  const same = useWatchable(importRecords).findLast((one) => one.shop === shopOf(key) && one.digest === digest);
  if (!same) return null;
  return (
    <p class="note wait" role="alert">
      <strong>This file was imported before:</strong>{" "}
      <span>
        {countOf(same.count, "animal")} of <bdi>{same.file}</bdi>, <Time at={new Date(same.at)} />.
      </span>{" "}
      <button type="button" class="link" onClick={() => undoRecorded(petstore, same)}>
        Undo that import
      </button>
    </p>
  );
}

/** The faults of a file, each with its line. */
function FaultyLines({ of: faults }: { readonly of: readonly LineFault[] }) {
  if (faults.length === 0) return null;
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{countOf(faults.length, "error")}.</strong>
      </p>
      <Faults of={faults} />
    </div>
  );
}

function Faults({ of: faults }: { readonly of: readonly LineFault[] }) {
  const lines = new Map<string, string[]>();
  for (const { line, message } of faults) {
    const same = lines.get(message);
    if (same) same.push(String(line));
    else lines.set(message, [String(line)]);
  }
  const hidden = [...lines.values()].slice(FAULTS_SHOWN).flat().length;
  return (
    <>
      <ul>
        {[...lines].slice(0, FAULTS_SHOWN).map(([message, at]) => (
          <li key={message}>
            {at.length === 1 ? "Line" : "Lines"} <Names of={at} />: <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p class="fine">and {numberOf(hidden)} more</p>}
    </>
  );
}

function UnknownIds({ of: ids }: { readonly of: readonly bigint[] }) {
  if (ids.length === 0) return null;
  return (
    <p class="note">
      {ids.length === 1 ? "No category has the number " : "No categories have the numbers "}
      <Names of={ids.map(String)} />. Their animals are shown with the number until a category gets it.
    </p>
  );
}

interface PreviewProps {
  readonly of: FileAnimals;
  readonly categories: ReadonlyMap<bigint, Category>;
}

/** The first animals of a file, as they would be added. */
function Preview({ of: { animals }, categories }: PreviewProps) {
  const { petstore } = useSession();
  const shown = animals.slice(0, ROWS_SHOWN);
  const references = shown.flatMap(({ body: { reference } }) => reference ?? []);
  const { data: existing } = useQuery(`${FILTERED} of ${references.join("\n")}`, async () =>
    (await Promise.all(references.map((one) => findPets(petstore, one)))).flat().map(({ reference }) => reference),
  );
  return (
    <Table<FileAnimal>
      label="First rows"
      query={{}}
      items={shown}
      keyOf={({ line }) => String(line)}
      columns={[
        { head: "Line", cell: ({ line }) => line },
        {
          head: "Name",
          fillsWidth: true,
          narrow: "name",
          cell: ({ body: { name, reference } }) => (
            <>
              <bdi>{name}</bdi>
              {reference && existing?.includes(reference) && <span class="tag calm">Exists</span>}
            </>
          ),
        },
        {
          head: "Category",
          narrow: "under",
          cell: ({ body }) => <CategoryName id={body.categoryId as bigint} of={categories} />,
        },
        {
          head: "Price",
          isNumber: true,
          narrow: "below",
          cell: ({ body: { price } }) => price && moneyOf(price as Money),
        },
        { head: "Status", narrow: "end", cell: ({ body: { status } }) => status && <Status of={status} /> },
      ]}
    />
  );
}

interface OutcomeProps {
  readonly of: PetImport;
  readonly file: string;
  /** The faults of the rows that were left out before. */
  readonly left: readonly LineFault[];
  readonly adding: Action<boolean>;
  readonly undo: () => void;
  readonly close: () => void;
}

/** What an import does or has done, and what can be done then: stop it, continue it, or take it back. */
function Outcome({ of: current, file, left, adding, undo, close }: OutcomeProps) {
  const may = useMay();
  const { added, existing, total, done, refused, skipped, unknownLines, isComplete } = current;
  const { isRunning } = adding;
  const faults = [...left, ...skipped];
  return (
    <div class="import">
      <div role="status">
        <p>
          {isComplete
            ? `${countOf(added.length, "animal")} added from ${file}${existing > 0 ? `, ${numberOf(existing)} existed` : ""}`
            : `${numberOf(added.length)} of ${countOf(total, "animal")} added`}
        </p>
        {!isRunning && !isComplete && added.length > 0 && (
          <p>
            In the shop are those of the lines {numberOf(added[0]!.line)} to {numberOf(added.at(-1)!.line)}.
          </p>
        )}
        {!isRunning && unknownLines && (
          <p>
            The service has not confirmed the lines {numberOf(unknownLines[0])} to {numberOf(unknownLines[1])}. To
            continue or to undo asks it again, and adds none twice.
          </p>
        )}
        {!isComplete && <progress aria-label="Progress of the import" max={total} value={done} />}
      </div>
      {refused.length > 0 ? <FaultyLines of={refused} /> : <ErrorNote error={adding.error} />}
      {!isRunning && faults.length > 0 && (
        <div class="note">
          <p>
            <strong>{countOf(new Set(faults.map(({ line }) => line)).size, "row")} skipped:</strong>
          </p>
          <Faults of={faults} />
        </div>
      )}
      <footer>
        {isRunning ? (
          <button type="button" disabled={current.isStopping} onClick={() => current.stop()}>
            {current.isStopping ? "Stopping…" : "Stop"}
          </button>
        ) : (
          <>
            {(added.length > 0 || unknownLines) && may("deletePets") && (
              <button type="button" onClick={undo}>
                Undo the import
              </button>
            )}
            {!isComplete && (
              <button type="button" onClick={() => void adding.run(refused.length > 0)}>
                {refused.length > 0 ? "Skip faulty rows" : adding.error ? "Try again" : "Continue"}
              </button>
            )}
            <button type="button" class="main" onClick={close}>
              Done
            </button>
          </>
        )}
      </footer>
    </div>
  );
}
