import { Link } from "../router.tsx";
import { Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Nothing here">
      <p class="empty">
        No page has this address, or your key may not see it. <Link to="/">Go to the first page</Link>
      </p>
    </Page>
  );
}
