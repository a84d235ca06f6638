package bankfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/formats/iso20022"
	"causeway/core/formats/nacha"
	"causeway/core/money"
	"causeway/core/plaintext"
)

// orderSeq yields the orders of a file by their positions.
type orderSeq = iter.Seq2[bankorder.Order, error]

// ordersOf reads the orders of a file in pieces.
func (a *Adapter) ordersOf(ctx context.Context, f bankorder.File) orderSeq {
	return func(yield func(bankorder.Order, error) bool) {
		for after := 0; ; {
			orders, err := a.store.FileOrders(ctx, a.connection.Name, f.Number, after, pieceSize)
			if err != nil {
				yield(bankorder.Order{}, err)
				return
			}
			for _, o := range orders {
				if !yield(o, nil) {
					return
				}
			}
			if len(orders) < pieceSize {
				return
			}
			after = orders[len(orders)-1].Position
		}
	}
}

// write writes a file that is delivered at a time. The same file at the same time gives the same bytes.
func (a *Adapter) write(w io.Writer, f bankorder.File, orders orderSeq, now time.Time) error {
	if f.Rail == corridor.ACH {
		return a.writeACH(w, f, orders, now)
	}
	block, err := a.blockOf(f.Rail, f.Currency)
	if err != nil {
		return err
	}
	block.ID, block.ExecuteOn = f.MessageID, a.executeOn(f.Rail, now)
	block.Totals = &iso20022.Totals{Count: f.Orders, Sum: f.Sum}
	block.Transfers = func(yield func(iso20022.Transfer, error) bool) {
		for o, err := range orders {
			if !yield(transferOf(o), err) {
				return
			}
		}
	}
	initiator := iso20022.Party{Name: a.settings.holder, OrganisationID: a.settings.customerID, OrganisationScheme: a.settings.customerScheme}
	_, err = iso20022.Write(w, iso20022.Initiation{MessageID: f.MessageID, CreatedAt: f.CreatedAt, Initiator: initiator,
		Blocks: []iso20022.Block{block}})
	return err
}

var schemes = map[corridor.Rail]iso20022.Scheme{
	corridor.SEPA: iso20022.SEPA, corridor.SEPAInstant: iso20022.SEPAInstant, corridor.Wire: iso20022.Wire,
	corridor.SWIFT: iso20022.CrossBorder,
}

// clearingUS is the code of US routing numbers in ISO 20022.
const clearingUS = "USABA"

// blockOf returns what all transfers of a rail and currency have in common. A file is one block, whose id is that of the
// message, so that a report about either finds the file.
func (a *Adapter) blockOf(r corridor.Rail, c money.Currency) (iso20022.Block, error) {
	scheme, some := schemes[r]
	if !some {
		return iso20022.Block{}, fmt.Errorf("there are no files for %s", r)
	}
	s := a.settings
	b := iso20022.Block{Scheme: scheme, Currency: c, Debtor: iso20022.Party{Name: s.holder}, DebtorAgent: iso20022.Agent{BIC: s.bic},
		// A payment that is settled by its booking needs a booking of its own.
		SingleBooking: s.settlesOn[r] == settlesOnBooking}
	if s.iban != "" {
		b.DebtorAccount.IBAN = s.iban
		return b, nil
	}
	b.DebtorAccount.Number = s.accountNumber
	b.DebtorAgent.ClearingSystem, b.DebtorAgent.MemberID = clearingUS, s.routingNumber
	return b, nil
}

func transferOf(o bankorder.Order) iso20022.Transfer {
	fields := o.Counterparty.Fields
	t := iso20022.Transfer{InstructionID: o.EndToEndID, EndToEndID: o.EndToEndID, UETR: iso20022.UETROf(o.ID), Amount: o.Amount,
		Creditor: iso20022.Party{Name: o.Counterparty.Name}, CreditorAccount: iso20022.Account{IBAN: fields["iban"]},
		CreditorAgent: iso20022.Agent{BIC: fields["swiftCode"]}, Remittance: o.Remittance}
	if t.CreditorAccount.IBAN == "" {
		t.CreditorAccount.Number = fields["accountNumber"]
	}
	if fields["routingNumber"] != "" {
		t.CreditorAgent.ClearingSystem, t.CreditorAgent.MemberID = clearingUS, fields["routingNumber"]
	}
	// Without a town that can be written an address is left out, as no rail needs one.
	if address := o.Counterparty.Address; address != nil && address.Country != "" &&
		strings.ContainsFunc(plaintext.Transliterate(address.City), unicode.IsLetter) {
		written := iso20022.AddressOf(*address)
		t.Creditor.Address = &written
	}
	return t
}

// The batches of ACH files, in the order of their names, in which the store puts the orders of a file.
const debitSuffix = "-DEBIT"

var achBatches = []string{string(nacha.CCD), string(nacha.CCD) + debitSuffix, string(nacha.PPD), string(nacha.PPD) + debitSuffix,
	string(nacha.WEB) + debitSuffix}

// batchOf returns the batch of an order: by whether its receiver is a consumer, and by its direction.
func (a *Adapter) batchOf(o bankorder.Order) string {
	class := nacha.PPD
	switch {
	case o.Counterparty.Business:
		class = nacha.CCD
	case o.Kind == bankorder.Collection:
		class = a.settings.achDebits
	}
	if o.Kind == bankorder.Collection {
		return string(class) + debitSuffix
	}
	return string(class)
}

// fileModifiers distinguish the ACH files of a day.
const fileModifiers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (a *Adapter) writeACH(w io.Writer, f bankorder.File, orders orderSeq, now time.Time) error {
	if f.DayNumber < 1 || f.DayNumber > len(fileModifiers) {
		return fmt.Errorf("ACH has %d files of a day, and this is number %d", len(fileModifiers), f.DayNumber)
	}
	s := a.settings
	next, stop := iter.Pull2(orders)
	defer stop()
	entries := entriesByBatch{next: next, firstTrace: f.FirstTrace}
	file := nacha.File{Destination: s.achDestination, DestinationName: s.achDestinationName, Origin: s.achOrigin, OriginName: s.achOriginName,
		CreatedAt: f.CreatedAt.In(s.zone), Modifier: fileModifiers[f.DayNumber-1], Reference: fmt.Sprintf("%08d", f.Number%1e8)}
	for _, name := range achBatches {
		batch := a.achBatch(name)
		batch.EffectiveOn, batch.Entries = a.executeOn(f.Rail, now), entries.of(name)
		file.Batches = append(file.Batches, batch)
	}
	totals, err := nacha.Write(w, file)
	if err != nil {
		return err
	}
	if written := money.TotalOf(totals.Debits).Add(money.TotalOf(totals.Credits)); totals.Entries != f.Orders || !written.Equal(f.Sum) {
		return fmt.Errorf("%d entries with a sum of %s were written, and the file has %d with %s", totals.Entries, written, f.Orders, f.Sum)
	}
	return nil
}

func (a *Adapter) achBatch(name string) nacha.Batch {
	class, debit := strings.CutSuffix(name, debitSuffix)
	return nacha.Batch{Class: nacha.Class(class), Debit: debit, CompanyName: a.settings.achCompanyName, CompanyID: a.settings.achCompanyID,
		Description: a.settings.achDescription, ODFI: a.settings.achODFI}
}

// entriesByBatch divides orders that are sorted by batch.
type entriesByBatch struct {
	next       func() (bankorder.Order, error, bool)
	firstTrace int
	ahead      *bankorder.Order
}

func (e *entriesByBatch) of(batch string) iter.Seq2[nacha.Entry, error] {
	return func(yield func(nacha.Entry, error) bool) {
		for {
			if e.ahead == nil {
				o, err, some := e.next()
				if !some {
					return
				}
				if err != nil {
					yield(nacha.Entry{}, err)
					return
				}
				e.ahead = &o
			}
			if e.ahead.Batch != batch {
				return
			}
			entry := entryOf(*e.ahead, e.firstTrace+e.ahead.Position-1)
			if e.ahead = nil; !yield(entry, nil) {
				return
			}
		}
	}
}

func entryOf(o bankorder.Order, sequence int) nacha.Entry {
	fields := o.Counterparty.Fields
	return nacha.Entry{Sequence: sequence, Key: o.Key, EndToEndID: o.EndToEndID, Remittance: o.Addenda, Routing: fields["routingNumber"],
		Account: fields["accountNumber"],
		Savings: fields["bankAccountType"] == "SAVINGS", Amount: o.Amount, Name: o.Counterparty.Name}
}

// checkOrder returns why no file can carry an order. What it lets pass can be written, so that one order never stops a file.
func (a *Adapter) checkOrder(o bankorder.Order) error {
	if o.Rail == corridor.ACH {
		return a.achBatch(o.Batch).CheckEntry(entryOf(o, 1))
	}
	if !takes(o.Rail, o.Amount.Currency) {
		return fmt.Errorf("%s takes no %s", o.Rail, o.Amount.Currency)
	}
	if o.Amount.Minor > maxSum {
		return errors.New("the amount is larger than what a file can carry: divide it")
	}
	block, err := a.blockOf(o.Rail, o.Amount.Currency)
	if err != nil {
		return err
	}
	return block.CheckTransfer(transferOf(o))
}

// Times of the day by which payments settle, of schedules that have none.
const (
	settlesAtACH     = "08:30"
	settlesAtDefault = "18:00"
)

// executeOn returns the day on which a file that is delivered at a time is to be executed, by the schedule of the connection.
// The effective date of ACH entries is the next business day after that: an earlier one would ask for settlement on the
// same day, which takes another agreement with the bank.
func (a *Adapter) executeOn(r corridor.Rail, at time.Time) time.Time {
	schedule := a.connection.ScheduleOf(r)
	day := a.timetable.ExecutedAt(schedule, at)
	if r == corridor.ACH {
		schedule.Days, schedule.SettlesAt = 1, cmp.Or(schedule.SettlesAt, settlesAtACH)
		day = a.timetable.SettlesAt(schedule, at)
	}
	return day.In(a.zones[r])
}

// settlesAt returns when orders of a file settle without a return; zero if by a report of the bank.
func (a *Adapter) settlesAt(r corridor.Rail, deliveredAt time.Time) time.Time {
	if a.settings.settlesOn[r] != settlesOnDays {
		return time.Time{}
	}
	schedule := a.connection.ScheduleOf(r)
	schedule.Opens, schedule.CutOff, schedule.Days, schedule.SettlesAt = "", "", a.settings.settleDays,
		cmp.Or(schedule.SettlesAt, settlesAtDefault)
	return a.timetable.SettlesAt(schedule, timeOfDay(a.executeOn(r, deliveredAt), 0))
}
