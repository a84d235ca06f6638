package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// trialBalancePage shows the trial balance of a month.
type trialBalancePage struct {
	page
	accounting.TrialBalance
	Months financials.Period
	// Month is that of a trial balance of one month. Earlier and Later are the addresses of those beside it, and Accounts that of the
	// accounts, each empty if there is none.
	Month, Earlier, Later, Accounts string
	// Group is empty unless only the accounts are shown whose paths begin with it.
	Group string
	// IsEffective: by value date, and not by the time of recording. IsDetailed: by account.
	IsEffective, IsDetailed bool
}

func (c *Console) showTrialBalance(r *request) error {
	query := r.URL.Query()
	months, i, err := monthsIn(query, c.Clock.Now())
	if err != nil {
		return err
	}
	if months.IsZero() {
		now := period.MonthOf(c.Clock.Now())
		months, i = financials.Period{From: now, To: now}, period.Interval{From: now.Start()}
	}
	data := trialBalancePage{page: c.page(r, "Trial balance", "balance"), Months: months, IsEffective: query.Get("by") == "effective",
		IsDetailed: query.Get("detail") == "account", Group: query.Get("group")}
	link := func(months financials.Period, detail string) string {
		values := monthsQuery(months)
		values.Set("by", query.Get("by"))
		values.Set("detail", detail)
		return data.Base + "/trial-balance?" + values.Encode()
	}
	if months.From == months.To && data.Group == "" {
		before, after := months.To.Previous(), months.To.Next()
		data.Month, data.Earlier = months.To.String(), link(financials.Period{From: before, To: before}, query.Get("detail"))
		if !i.To.IsZero() {
			data.Later = link(financials.Period{From: after, To: after}, query.Get("detail"))
		}
	}
	if !data.IsDetailed {
		data.Accounts = link(months, "account")
	}
	q := accounting.TrialBalanceQuery{Interval: i, Grouped: !data.IsDetailed, OrGrouped: data.IsDetailed, By: ports.ByRecorded,
		Group: data.Group, Currency: money.Currency(query.Get("currency"))}
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
	return figureLink(p.Base, l.Path, l.Currency, financials.Entries{Period: p.Months}, by)
}

// Of names the months that are shown.
func (p trialBalancePage) Of() string { return monthsText(p.Months) }

// entriesPage lists the entries of an account, newest first.
type entriesPage struct {
	page
	Account ledger.Account
	Class   ledger.Class
	// Of names what is shown, and Sum is what it adds up to; empty for all entries, to which All leads.
	Of, Sum, All string
	// IsEffective: of the months by value date, and not by the time of recording.
	IsEffective bool
	Entries     []ports.AccountEntry
	Older       string
}

func (c *Console) showEntries(r *request) error {
	query := r.URL.Query()
	data := entriesPage{page: c.page(r, "Entries", "balance"),
		Account: ledger.Account{Platform: r.platform.ID, Path: query.Get("path"), Currency: money.Currency(query.Get("currency"))}}
	filter := ports.AccountEntryFilter{Account: data.Account, Limit: pageSize, After: parsePosition(query.Get("after"))}
	months, interval, err := monthsIn(query, c.Clock.Now())
	if err != nil {
		return err
	}
	if filter.Part = financials.Part(query.Get("part")); !slices.Contains(financials.Parts(), filter.Part) {
		return errNotFound
	}
	if !months.IsZero() || filter.Part != financials.AllEntries {
		filter.Interval, data.Of = interval, entriesText(months, filter.Part)
		data.All = accountLink(data.Base, data.Account.Path, data.Account.Currency)
		if data.IsEffective = query.Get("by") == "effective"; data.IsEffective {
			filter.By = ports.ByEffective
		}
		sum, err := c.Accounting.EntriesSum(r.Context(), filter)
		if err != nil {
			return err
		}
		data.Sum = sum.Major(data.Account.Currency)
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

// entriesText names the entries of some months.
func entriesText(months financials.Period, part financials.Part) string {
	text := map[financials.Part]string{financials.Earned: ", without the closing of years", financials.YearEnd: ", of the closing of years",
		financials.CashReceived: ", for which cash was received", financials.CashPaid: ", for which cash was paid"}[part]
	if months.IsZero() {
		return "all time" + text
	}
	return monthsText(months) + text
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
