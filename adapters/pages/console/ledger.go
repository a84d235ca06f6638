package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// trialBalancePage shows the trial balance of a month.
type trialBalancePage struct {
	page
	accounting.TrialBalance
	// Month is shown. Earlier and Later are the addresses of those beside it, and Accounts that of its accounts, each empty if there
	// is none.
	Month, Earlier, Later, Accounts string
	// IsEffective: by value date, and not by the time of recording. IsDetailed: by account.
	IsEffective, IsDetailed bool
}

func (c *Console) showTrialBalance(r *request) error {
	query := r.URL.Query()
	i, month, err := monthOf(query.Get("month"), c.Clock.Now())
	if err != nil {
		return err
	}
	data := trialBalancePage{page: c.page(r, "Trial balance", "balance"), Month: month, IsEffective: query.Get("by") == "effective",
		IsDetailed: query.Get("detail") == "account"}
	link := func(month time.Time, detail string) string {
		return data.Base + "/trial-balance?" + url.Values{"month": {month.Format(monthForm)}, "by": {query.Get("by")},
			"detail": {detail}}.Encode()
	}
	data.Earlier = link(i.From.AddDate(0, -1, 0), query.Get("detail"))
	if !i.To.IsZero() {
		data.Later = link(i.To, query.Get("detail"))
	}
	if !data.IsDetailed {
		data.Accounts = link(i.From, "account")
	}
	q := accounting.TrialBalanceQuery{Interval: i, Grouped: !data.IsDetailed, OrGrouped: data.IsDetailed, By: ports.ByRecorded}
	if data.IsEffective {
		q.By = ports.ByEffective
	}
	if data.TrialBalance, err = c.Accounting.TrialBalance(r.Context(), r.platform.ID, q); err != nil {
		return err
	}
	return c.render(r, http.StatusOK, "trial_balance.html", data)
}

// HasTooMany reports whether the accounts are too many for a line each.
func (p trialBalancePage) HasTooMany() bool { return p.IsDetailed && p.Grouped }

// LinkOf leads to the entries of a line, or to the accounts of one that has several; not if they are too many.
func (p trialBalancePage) LinkOf(l accounting.TrialBalanceLine) string {
	if p.HasTooMany() && isGroup(l.Path) {
		return ""
	}
	by := ""
	if p.IsEffective {
		by = "effective"
	}
	return figureLink(p.Base, l.Path, l.Currency, p.Month, by)
}

const monthForm = "2006-01"

// monthOf returns the month that a text names, or the present one; so far, if it has not ended.
func monthOf(text string, now time.Time) (period.Interval, string, error) {
	if text == "" {
		text = now.UTC().Format(monthForm)
	}
	from, err := time.Parse(monthForm, text)
	if err != nil || from.After(now) {
		return period.Interval{}, text, &problem{http.StatusUnprocessableEntity, "This cannot be shown",
			"The month must have begun, and be written as in 2026-03."}
	}
	i := period.Interval{From: from}
	if end := from.AddDate(0, 1, 0); !end.After(now) {
		i.To = end
	}
	return i, text, nil
}

// entriesPage lists the entries of an account, newest first.
type entriesPage struct {
	page
	Account ledger.Account
	Class   ledger.Class
	// Month is empty for all entries, to which All leads.
	Month, All string
	// IsEffective: of the month by value date, and not by the time of recording.
	IsEffective bool
	Entries     []ports.AccountEntry
	Older       string
}

func (c *Console) showEntries(r *request) error {
	query := r.URL.Query()
	data := entriesPage{page: c.page(r, "Entries", "balance"),
		Account: ledger.Account{Platform: r.platform.ID, Path: query.Get("path"), Currency: money.Currency(query.Get("currency"))}}
	filter := ports.AccountEntryFilter{Account: data.Account, Limit: pageSize, After: parsePosition(query.Get("after"))}
	var err error
	if query.Get("month") != "" {
		if filter.Interval, data.Month, err = monthOf(query.Get("month"), c.Clock.Now()); err != nil {
			return err
		}
		data.All = accountLink(data.Base, data.Account.Path, data.Account.Currency)
		if data.IsEffective = query.Get("by") == "effective"; data.IsEffective {
			filter.By = ports.ByEffective
		}
	}
	found, err := c.Accounting.Entries(r.Context(), filter)
	if line, inChart := ledger.FindChartLine(data.Account.Path); fault.Is(err, fault.NotFound) && inChart == nil {
		found.Class, err = line.Class, nil // nothing was posted to it yet
	}
	if err != nil {
		return err
	}
	data.Class, data.Entries = found.Class, found.Entries
	if n := len(found.Entries); found.More {
		last := found.Entries[n-1].Position
		data.Older = pageAfter(r, strconv.FormatInt(last.Seq, 10)+"."+strconv.Itoa(last.N))
	}
	return c.render(r, http.StatusOK, "entries.html", data)
}

// parsePosition returns the position that the link to the next page has; that of the first page for any other text.
func parsePosition(text string) ports.EntryPosition {
	seq, n, _ := strings.Cut(text, ".")
	var p ports.EntryPosition
	var errSeq, errN error
	p.Seq, errSeq = strconv.ParseInt(seq, 10, 64)
	p.N, errN = strconv.Atoi(n)
	if errSeq != nil || errN != nil {
		return ports.EntryPosition{}
	}
	return p
}

// postingPage shows one posting.
type postingPage struct {
	page
	accounting.Posting
	List entryList
	// Proof is nil if NotProved says why there is none.
	Proof     *postingProof
	NotProved string
	Names     map[string]string // of authors
}

// hasForeignMemo reports whether the memo of a posting may have words of a payer, which are personal data.
func hasForeignMemo(k ledger.Kind) bool {
	return slices.Contains([]ledger.Kind{ledger.KindDeposit, ledger.KindUnmatchedReceived, ledger.KindUnmatchedAssigned,
		ledger.KindReceiptReversed}, k)
}

// ShowsMemo reports whether the memo may be shown.
func (p postingPage) ShowsMemo() bool { return p.Memo != "" && !hasForeignMemo(p.Kind) }

func (c *Console) showPosting(r *request) error {
	id, err := uuid.Parse(r.PathValue("posting"))
	if err != nil {
		return errNotFound
	}
	found, err := c.Accounting.Posting(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	data := postingPage{page: c.page(r, "Posting", "balance"), Posting: found}
	data.List = newEntryList(found.RecordedPosting, data.Base)
	if data.Proof, data.NotProved, err = c.proofOf(r, id); err != nil {
		return err
	}
	if data.Proof != nil {
		c.site.AllowScript(r.w.Header())
	}
	if data.Authorisation != nil {
		if data.Names, err = c.actorNames(r, data.Authorisation.By); err != nil {
			return err
		}
	}
	return c.render(r, http.StatusOK, "posting.html", data)
}
