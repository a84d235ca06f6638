package exports

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/csvcell"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/transaction"
	"causeway/ports"
)

// The formats of the files that are lists of a time, and not of the ledger.
const (
	AuditList   Format = "audit"
	PaymentList Format = "payments"
	// AuditPack is the pack of a financial year, whose months are the time.
	AuditPack Format = "audit-pack"
)

// FileFormats lists the formats of files that are written in the background.
func FileFormats() []string { return append(Formats(), string(PaymentList), string(AuditList)) }

// IsList reports whether a format is a list, which has no account and no currency.
func (f Format) IsList() bool { return f == AuditList || f == PaymentList }

// Check returns FORBIDDEN for a person who may not have a file of the format.
func (f Format) Check(by person.Person, p ident.Platform) error {
	if f == AuditPack || f == AuditList {
		return by.Check(person.ViewAudit, p)
	}
	return by.Check(person.View, p)
}

// pageOfList is how many lines of a list are read at once.
const pageOfList = 1000

// fileOf prepares the document of a file.
func (f *Files) fileOf(p ident.Platform, r Request, progress progress) (Document, error) {
	switch {
	case r.Format == AuditPack:
		return f.pack(p, r, progress), nil
	case !r.Format.IsList():
		return f.document(p, r, progress)
	}
	if bad := r.checkList(f.Clock.Now()); len(bad) > 0 {
		return Document{}, fault.Invalid(bad...)
	}
	columns, read := PaymentColumns, f.payments
	if r.Format == AuditList {
		columns, read = ActivityColumns, f.activities
	}
	return Document{Name: string(r.Format) + ".csv", ContentType: "text/csv; charset=utf-8; header=present",
		Write: func(ctx context.Context, out io.Writer) error {
			lines, done := csv.NewWriter(out), int64(0)
			if err := lines.Write(columns); err != nil {
				return err
			}
			err := read(ctx, p, r, func(row []string) error {
				if done++; progress != nil {
					progress(done, 0)
				}
				return lines.Write(row)
			})
			lines.Flush()
			return cmp.Or(err, lines.Error())
		}}, nil
}

// payments reads the payments that were created in the time of a request, newest first.
func (f *Files) payments(ctx context.Context, p ident.Platform, r Request, each func(row []string) error) error {
	read := func(page ports.Paging) (ports.Page[transaction.Transaction], error) {
		return f.FilesConfig.Store.Transactions(ctx, p, ports.TransactionFilter{Paging: page, Created: r.Interval})
	}
	for t, err := range ports.All(ports.Paging{Limit: pageOfList, WithoutTotal: true}, read,
		func(t transaction.Transaction) uuid.UUID { return t.ID.UUID() }) {
		if err == nil {
			err = each(PaymentRow(t))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// activities reads what people did in the time of a request, newest first.
func (f *Files) activities(ctx context.Context, p ident.Platform, r Request, each func(row []string) error) error {
	filter := ports.ActivityFilter{Platform: p, At: r.Interval, Limit: pageOfList}
	for {
		found, err := f.FilesConfig.Store.Activities(ctx, filter)
		if err != nil {
			return err
		}
		for _, a := range found {
			if err := each(ActivityRow(a)); err != nil {
				return err
			}
			filter.After = a.ID
		}
		if len(found) < pageOfList {
			return nil
		}
	}
}

// PaymentColumns are the columns of a list of payments.
var PaymentColumns = []string{"id", "created_at_utc", "type", "status", "refund_status", "sent", "sent_currency", "received",
	"received_currency", "fees", "reference", "customer_id", "platform_customer_id", "failure_reason", "settled_at_utc"}

// PaymentRow returns the line of a payment, without personal data.
func PaymentRow(t transaction.Transaction) []string {
	sent, sentCurrency, fees := "", "", ""
	if c := t.Pricing.Sent.Currency; t.Type == transaction.Outgoing {
		sent, sentCurrency, fees = major(t.Pricing.Sent), string(c), major(money.Amount{Minor: t.Pricing.Fees, Currency: c})
	}
	of := t.Customer.String()
	if t.Customer.IsZero() {
		of = t.Platform.String()
	}
	return []string{t.ID.String(), instant(t.CreatedAt), string(t.Type), string(t.State.Status), string(t.RefundStatus()), sent,
		sentCurrency, major(t.Pricing.Received), string(t.Pricing.Received.Currency), fees, csvcell.Escape(t.Reference),
		of, csvcell.Escape(t.PlatformCustomerID), string(t.State.Reason), instant(t.SettledAt)}
}

// ActivityColumns are the columns of the audit.
var ActivityColumns = []string{"id", "at", "actor", "action", "object", "note", "changes"}

// ActivityRow returns the line of something that a person has done.
func ActivityRow(a ports.Activity) []string {
	changes := make([]string, len(a.Changes))
	for i, c := range a.Changes {
		changes[i] = diff.Field.String(c)
	}
	return []string{a.ID.String(), instant(a.At), csvcell.Escape(a.Actor), a.Action, csvcell.Escape(a.Object()), csvcell.Escape(a.Note),
		csvcell.Escape(strings.Join(changes, "; "))}
}

func major(a money.Amount) string {
	text, _, _ := strings.Cut(a.String(), " ")
	return text
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
