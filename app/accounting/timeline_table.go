package accounting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"causeway/core/csvcell"
	"causeway/core/money"
	"causeway/core/platform"
)

// timelineRow is an event of a timeline, or one entry of its posting.
type timelineRow struct {
	name, result  string
	amount        money.Amount // no currency: none
	debit, credit string
	number, entry string
	id, by, note  string
}

// Table returns the events of the timeline, with a row for each entry of a posting. Its last row has the type
// INCOMPLETE if some are left out.
func (t Timeline) Table() Table {
	table := Table{Header: []string{"at", "type", "name", "result", "amount", "currency", "debit", "credit", "posting_number", "entry_number",
		"id", "by", "note"}}
	for _, e := range t.Events {
		for _, r := range t.rows(e) {
			var amount string
			if c := r.amount.Currency; c != "" {
				amount = money.TotalOf(r.amount.Minor).Major(c)
			}
			table.Rows = append(table.Rows, []string{tableTime(e.At), string(e.Type), csvcell.Escape(r.name), r.result, amount,
				string(r.amount.Currency),
				r.debit, r.credit, r.number, r.entry, r.id, csvcell.Escape(r.by), csvcell.Escape(r.note)})
		}
	}
	if !t.Complete {
		row := make([]string, len(table.Header))
		row[1], row[len(row)-1] = "INCOMPLETE", fmt.Sprintf("There are more than %d events of one type; the others are left out.",
			maxEventsPerType)
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (t Timeline) rows(e TimelineEvent) []timelineRow {
	var row timelineRow
	switch {
	case e.Type == TimelineRequested:
		row = timelineRow{id: t.Transaction.ID.String(), note: t.Transaction.Description}
	case e.Quote != nil:
		p := e.Quote.Pricing
		row = timelineRow{id: e.Quote.ID.String(), amount: p.Sent, note: fmt.Sprintf("%s for %s, with fees of %s", p.Received, p.Sent,
			money.Amount{Minor: p.Fees, Currency: p.Sent.Currency})}
	case e.AgentAttempt != nil:
		a := e.AgentAttempt
		reasons := make([]string, len(a.Reasons))
		for i, reason := range a.Reasons {
			reasons[i] = string(reason.Code)
		}
		row = timelineRow{name: string(a.Operation), result: string(a.Decision), amount: a.Amount, id: a.ID.String(), by: a.Agent.String(),
			note: strings.Join(reasons, ", ")}
		if !a.Token.IsZero() {
			row.by = a.Token.String()
		}
		if a.Error != "" {
			row.note = strings.TrimPrefix(row.note+", "+string(a.Error), ", ")
		}
	case e.Authorization != nil:
		row = timelineRow{name: string(e.Authorization.Form()), id: e.Authorization.Session.String()}
	case e.Assignment != nil:
		a := e.Assignment
		row = timelineRow{amount: a.Receipt.Amount, id: a.Receipt.ID.String(), by: authorName(a.Assignment.By), note: a.Assignment.Note}
	case e.RailReply != nil:
		r := e.RailReply
		row = timelineRow{name: string(r.Call), result: string(r.Verdict), id: r.PartnerID, note: joinTexts(string(r.Reason), r.Code, r.Text)}
	case e.Receivable != nil:
		c := e.Receivable
		row = timelineRow{name: string(c.Kind), amount: money.Amount{Minor: c.Amount, Currency: t.Transaction.Pricing.Sent.Currency},
			id: c.Receivable.String(), by: authorName(c.By), note: c.Note}
	case e.Posting != nil:
		return postingRows(e)
	case e.Attempt != nil:
		row = timelineRow{name: e.Delivery.Name, result: string(e.Attempt.Outcome), id: e.Delivery.ID.String(), note: e.Attempt.Error}
		if e.Attempt.StatusCode != 0 {
			row.note = "HTTP " + strconv.Itoa(e.Attempt.StatusCode)
		}
	case e.Delivery != nil:
		row = timelineRow{name: e.Delivery.Name, result: string(e.Delivery.Status), id: e.Delivery.ID.String()}
	}
	return []timelineRow{row}
}

func postingRows(e TimelineEvent) (rows []timelineRow) {
	p := e.Posting
	for i, entry := range p.Entries {
		rows = append(rows, timelineRow{name: string(p.Kind), amount: money.Amount{Minor: entry.Amount, Currency: entry.Currency},
			debit: entry.Debit, credit: entry.Credit,
			number: strconv.FormatInt(p.Seq, 10), entry: strconv.Itoa(i + 1), id: postingID(p.ID).String(), note: p.Memo})
	}
	return rows
}

// joinTexts returns those of the texts that are not empty as a list.
func joinTexts(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

// authorName returns the person or, if none was named, the token.
func authorName(by platform.Author) string {
	if by.Actor != "" {
		return by.Actor
	}
	return by.Token.String()
}
