import { nameShop } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { useWatchable } from "../watchable.ts";
import { offeredKey, restart, shopOf, useSession } from "./session.ts";

/** Asks whether to sign in with the key of a link. */
export function OfferedKey() {
  const offered = useWatchable(offeredKey);
  const { key } = useSession();
  const action = useAction(async () => {
    if (!offered) return;
    nameShop(shopOf(offered.key));
    restart(offered.secret);
  });
  if (!offered) return null;
  return (
    <FormDialog
      title={
        <>
          Sign in as <bdi>{offered.key.account.name}</bdi>?
        </>
      }
      fields={[]}
      action={action}
      submit="Sign in"
      onClose={() => offeredKey.set(undefined)}
    >
      <p class="intro">
        The link has the key <bdi>{offered.key.name}</bdi>. You are signed in as <bdi>{key.account.name}</bdi> with the
        key <bdi>{key.name}</bdi>.
      </p>
    </FormDialog>
  );
}
