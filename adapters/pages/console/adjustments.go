package console

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/recurring"
)

func (c *Console) adjustmentRoutes() []platformRoute {
	return c.actionRoutes("/make-adjustment", person.KeepBooks, c.makeAdjustment)
}

// makeAdjustment posts an adjustment. The code that confirms it counts once, so a second press posts nothing.
func (c *Console) makeAdjustment(r *request) (action, error) {
	base := basePath(r.platform.ID)
	return action{Title: "Make an adjustment", Section: "balance", NeedsCode: true, Back: base + "/trial-balance",
		Does: "The entries are posted at once, on the day if its month is not closed, and otherwise when the first open month begins. A " +
			"posting is never changed: another one reverses it. If the books need a second person for it, or money that is held is moved on a " +
			"production platform, it is proposed and waits for an approval.",
		Fields: []field{
			{Name: "entries", Label: "Entries", Kind: "textarea", Hint: "One a line: " + recurring.EntriesForm + "."},
			{Name: "day", Label: "Effective on", Kind: "date", Hint: "In UTC. Empty: now."},
			{Name: "corrects", Label: "Corrects", Value: r.URL.Query().Get("corrects"), Hint: "The posting that is corrected, such as `Posting:…`."},
			{Name: "owned", Label: "It changes accounts of customers, of the platform or of wallets", Kind: "checkbox"},
			noteField},
		do: func(r *request) (string, error) {
			a, err := adjustmentIn(r)
			if err != nil {
				return "", err
			}
			author, err := c.author(r)
			if err != nil {
				return "", err
			}
			done, err := c.Periods.Adjust(r.Context(), r.platform.ID, author, nil, a)
			if to := proposed(base, done); to != "" || err != nil {
				return to, err
			}
			return base + "/postings/" + done.Done.Posting.ID.String(), nil
		}}, nil
}

// adjustmentIn returns the adjustment of a form, or everything that cannot be read.
func adjustmentIn(r *request) (a period.Adjustment, err error) {
	a = period.Adjustment{Platform: r.platform.ID, Note: formText(r, "note"),
		OwnedAccounts: r.PostFormValue("owned") != ""}
	var bad []fault.Field
	if a.Entries, err = recurring.ParseEntries(r.PostFormValue("entries")); err != nil {
		f, ok := fault.As(err)
		if !ok {
			return a, err
		}
		bad = append(bad, f.Fields...)
	}
	if day := formText(r, "day"); day != "" {
		if a.Effective, err = time.Parse(time.DateOnly, day); err != nil {
			bad = append(bad, fault.Field{Field: "day", Message: "must be a day such as 2026-10-31"})
		}
	}
	if corrects := formText(r, "corrects"); corrects != "" {
		if a.Corrects, err = ident.ParsePosting(corrects); err != nil {
			bad = append(bad, fault.Field{Field: "corrects", Message: "must be the id of a posting, such as Posting:…"})
		}
	}
	if len(bad) > 0 {
		return a, fault.Invalid(bad...)
	}
	return a, nil
}
