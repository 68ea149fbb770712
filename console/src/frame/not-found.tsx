import { Link } from "../router.tsx";
import { addShop } from "../session/session.ts";
import { Page } from "../ui/page.tsx";

export function NotFound({ isElsewhere }: { readonly isElsewhere: boolean }) {
  return (
    <Page title="Nothing here">
      <p class="empty">
        {isElsewhere
          ? "This address belongs to another shop."
          : "No page has this address, or your key may not see it."}{" "}
        {isElsewhere && (
          <button type="button" class="link" onClick={addShop}>
            Sign in to it
          </button>
        )}{" "}
        <Link to="/">Go to the first page</Link>
      </p>
    </Page>
  );
}
