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
	// Group and In are empty unless only the accounts of a group, or those in a currency, are shown.
	Group, In string
	// IsEffective: by value date, and not by the time of recording. IsDetailed: by account.
	IsEffective, IsDetailed bool
	Download                string
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
		IsDetailed: query.Get("detail") == "account", Group: strings.TrimSpace(query.Get("group")),
		In: strings.ToUpper(strings.TrimSpace(query.Get("currency"))), Download: fileLink(r)}
	link := func(months financials.Period, detail string) string {
		values := monthsQuery(months)
		values.Set("by", query.Get("by"))
		values.Set("detail", detail)
		for name, text := range map[string]string{"group": data.Group, "currency": data.In} {
			if text != "" {
				values.Set(name, text)
			}
		}
		return data.Base + "/trial-balance?" + values.Encode()
	}
	if months.From == months.To {
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
		Group: data.Group, Currency: money.Currency(data.In)}
	if data.IsEffective {
		q.By = ports.ByEffective
	}
	if data.TrialBalance, err = c.Accounting.TrialBalance(r.Context(), r.platform.ID, q); err != nil {
		return err
	}
	if r.lines != nil {
		lines := data.TrialBalance.Table()
		*r.lines = listFile{name: fileName("trial-balance-" + data.Of()), header: lines.Header, rows: lines.Rows}
		return nil
	}
	return c.render(r, http.StatusOK, "trial_balance.html", data)
}

// HasTooMany reports whether the accounts are too many for a line each.
func (p trialBalancePage) HasTooMany() bool { return p.IsDetailed && p.Grouped }

// LinkOf leads to the entries of a line, or to the accounts of one that has several; not if these are shown, and too many.
func (p trialBalancePage) LinkOf(l accounting.TrialBalanceLine) string {
	return p.link(l, financials.Entries{Period: p.Months})
}

func (p trialBalancePage) link(l accounting.TrialBalanceLine, of financials.Entries) string {
	if p.HasTooMany() && l.Path == p.Group {
		return ""
	}
	by := ""
	if p.IsEffective {
		by = "effective"
	}
	return figureLink(p.Base, l.Path, l.Currency, of, by)
}

// Figures are those of a line, each with a link to exactly its entries, or to the accounts of a line that has several.
func (p trialBalancePage) Figures(l accounting.TrialBalanceLine) []cell {
	figure := func(n money.Total, of financials.Entries) cell {
		if isGroup(l.Path) {
			of = financials.Entries{Period: p.Months}
		}
		return cell{Class: "amount", Text: n.Major(l.Currency), Link: p.link(l, of)}
	}
	opening := amountCell(l.Opening.Major(l.Currency))
	if !p.Months.From.IsZero() {
		opening = figure(l.Opening, financials.Entries{Period: financials.Period{To: p.Months.From.Previous()}})
	}
	return []cell{opening, figure(l.Debits, financials.Entries{Period: p.Months, Part: financials.Debits}),
		figure(l.Credits, financials.Entries{Period: p.Months, Part: financials.Credits}),
		figure(l.Closing, financials.Entries{Period: financials.Period{To: p.Months.To}})}
}

// Of names the months that are shown.
func (p trialBalancePage) Of() string { return monthsText(p.Months) }

// showEntries lists the entries of an account, newest first.
func (c *Console) showEntries(r *request) error {
	query := r.URL.Query()
	account := ledger.Account{Platform: r.platform.ID, Path: query.Get("path"), Currency: money.Currency(query.Get("currency"))}
	v := view{page: c.page(r, account.Path+" in "+string(account.Currency), "balance")}
	filter := ports.AccountEntryFilter{Account: account, Limit: r.pageSize(), After: parsePosition(query.Get("after"))}
	months, interval, err := monthsIn(query, c.Clock.Now())
	if err != nil {
		return err
	}
	if filter.Part = financials.Part(query.Get("part")); !slices.Contains(financials.Parts(), filter.Part) {
		return errNotFound
	}
	of := ""
	if !months.IsZero() || filter.Part != financials.AllEntries {
		filter.Interval = interval
		kind := "recording"
		if query.Get("by") == "effective" {
			filter.By, kind = ports.ByEffective, "effect"
		}
		of = " Those of " + entriesText(months, filter.Part) + ", by the time of " + kind + "."
		v.Actions = []fact{actionLink("Show all", accountLink(v.Base, account.Path, account.Currency))}
	}
	found, err := c.Accounting.Entries(r.Context(), filter)
	if line, inChart := ledger.FindChartLine(account.Path); fault.Is(err, fault.NotFound) && inChart == nil {
		found.Class, err = line.Class, nil // nothing was posted to it yet
	}
	if err != nil {
		return err
	}
	if of != "" && r.lines == nil {
		sum, err := c.Accounting.EntriesSum(r.Context(), filter)
		text := sum.Major(account.Currency) + " " + string(account.Currency)
		if fault.Is(err, fault.ServiceUnavailable) {
			text, err = "takes too long to add up", nil
		}
		if err != nil {
			return err
		}
		v.Facts = add(nil, "Sum of these entries", text)
	}
	v.Intro = "Account of the class " + lower(found.Class) + ". Newest first, with the balance after each entry." + of
	rows := &table{File: "entries-" + account.Path + "-" + string(account.Currency), Label: "Entries",
		Empty:   "The account has no such entries.",
		Columns: columns("Recorded", "Effective", "Posting", "Debit", "Credit", ">Amount", ">Balance", "Payment")}
	for _, e := range found.Entries {
		row := []cell{timed(e.Recorded), timed(e.Effective), linked(lower(e.Kind), v.Base+"/postings/"+e.Posting.String()), plain(e.Debit),
			plain(e.Credit), minorCell(e.Amount, e.Currency), amountCell(e.Balance.Major(e.Currency)), {}}
		row[2].Full = e.Posting.String()
		if !e.Transaction.IsZero() {
			row[7] = shortID(e.Transaction.String(), v.Base+"/payments/"+pathOfID(e.Transaction))
		}
		rows.Rows = append(rows.Rows, row)
	}
	v.Sections = []section{{Table: rows}}
	if n := len(found.Entries); found.More {
		last := found.Entries[n-1].Position
		v.Older = pageAfter(r, strconv.FormatInt(last.Seq, 10)+"."+strconv.Itoa(last.N))
	}
	return c.show(r, v)
}

// entriesText names the entries of some months.
func entriesText(months financials.Period, part financials.Part) string {
	text := map[financials.Part]string{financials.Earned: ", without the closing of years", financials.YearEnd: ", of the closing of years",
		financials.CashReceived: ", for which cash was received", financials.CashPaid: ", for which cash was paid",
		financials.Debits: ", that debit the account", financials.Credits: ", that credit the account"}[part]
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

// ShowsMemo reports whether the memo may be shown.
func (p postingPage) ShowsMemo() bool { return p.Memo != "" && !p.Kind.HasForeignMemo() }

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
		if data.Names, err = c.actorNames(r, data.Authorisation.By, data.Authorisation.Approval.By); err != nil {
			return err
		}
	}
	return c.render(r, http.StatusOK, "posting.html", data)
}
