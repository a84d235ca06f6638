package partner

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// maxReference is what is kept of what a payer wrote, in bytes.
const maxReference = 8000

// check returns what is wrong with an event. Its error has no personal data.
func (e Event) check(now time.Time) error {
	if e.ID == "" || !isToken(e.ID, maxCursor) {
		return errors.New("id must have 1 to 200 printable ASCII characters without spaces")
	}
	if !isTime(e.At, now) {
		return errors.New("at is missing, before 2000 or in the future")
	}
	var report ports.RailReport
	return e.appendTo(&report)
}

// appendEvent adds a stored event to a report, or what is wrong with it: it was checked by another version.
func appendEvent(report *ports.RailReport, stored ports.PartnerEvent) {
	var e Event
	next := *report
	err := decode(stored.Body, &e)
	switch {
	case err != nil:
	case isReuse(stored):
		var c rail.Contradiction
		c, err = contradictionOf(stored)
		next.Contradictions = append(next.Contradictions, c)
	default:
		err = e.appendTo(&next)
	}
	if err != nil {
		report.Raw = append(report.Raw, rawEvent(stored.Body, stored.ID, err))
		return
	}
	*report = next
}

// appendTo adds an event to a report, and returns what is wrong with it.
func (e Event) appendTo(report *ports.RailReport) error {
	objects := 0
	for _, given := range []bool{e.Payment != nil, e.Receipt != nil, e.Reversal != nil, e.Fee != nil, e.Balance != nil} {
		if given {
			objects++
		}
	}
	if objects != 1 {
		return errors.New("an event has exactly one of payment, receipt, reversal, fee and balance")
	}
	p, err := parsePlatform(e.PlatformID)
	if err != nil {
		return err
	}
	switch {
	case e.Type == PaymentChanged && e.Payment != nil:
		return e.appendPayment(report)
	case e.Type == MoneyReceived && e.Receipt != nil:
		return e.appendReceipt(report, p)
	case e.Type == ReceiptReversed && e.Reversal != nil:
		return e.appendReversal(report, p)
	case e.Type == FeeCharged && e.Fee != nil:
		return e.appendFee(report, p)
	case e.Type == BalanceNamed && e.Balance != nil:
		amount, err := e.Balance.amount()
		report.Balances = append(report.Balances, ports.RailBalance{Amount: amount, At: e.At})
		return err
	}
	return errors.New("type is not that of the object of the event")
}

// parsePlatform returns zero for an empty text.
func parsePlatform(text string) (ident.Platform, error) {
	if text == "" {
		return ident.Platform{}, nil
	}
	p, err := ident.ParsePlatform(text)
	if err != nil {
		return p, errors.New("platformId is not one of the service")
	}
	return p, nil
}

func (e Event) appendPayment(report *ports.RailReport) error {
	p, err := ident.ParsePlatform(e.Payment.PlatformID)
	if err != nil {
		return errors.New("payment.platformId must be that of the request")
	}
	id, err := uuid.Parse(e.Payment.ID)
	if err != nil || e.Payment.Kind.Path() == "" {
		return errors.New("payment.id and payment.kind must be those of the request")
	}
	switch e.Payment.Status {
	case Accepted, Pending, Settled, Rejected, Returned:
	default:
		return errors.New("payment.status is none of ACCEPTED, PENDING, SETTLED, REJECTED and RETURNED")
	}
	report.Changed = append(report.Changed, ports.RailSubject{Platform: p, Subject: id})
	return nil
}

func (e Event) appendReceipt(report *ports.RailReport, p ident.Platform) error {
	receipt := ports.RailReceipt{Receipt: transaction.Receipt{Platform: p, PartnerID: e.Receipt.PartnerID,
		Reference: plaintext.Clean(e.Receipt.Reference, maxReference), At: e.At,
		TransactionHash: plaintext.Clean(e.Receipt.TransactionHash, transaction.MaxPartnerID)}}
	var err error
	if receipt.Rail, err = parseRail(e.Receipt.Rail); err != nil {
		return err
	}
	if receipt.Amount, err = positive(e.Receipt.Amount); err != nil {
		return fmt.Errorf("receipt.%w", err)
	}
	if e.Receipt.Payer != nil {
		payer, err := e.Receipt.Payer.external()
		if err != nil {
			return fmt.Errorf("receipt.%w", err)
		}
		receipt.Payer = &payer
	}
	receipt.Originator = transaction.OriginatorOf(receipt.Payer, transaction.Originator{EndToEndID: e.Receipt.EndToEndID,
		TraceNumber: e.Receipt.TraceNumber, Remittance: e.Receipt.RemittanceInformation})
	if !isPartnerID(e.Receipt.PartnerID) {
		return errors.New("receipt.partnerId has 1 to 255 characters, none of them a control character")
	}
	report.Receipts = append(report.Receipts, receipt)
	return nil
}

func (e Event) appendReversal(report *ports.RailReport, p ident.Platform) error {
	v := e.Reversal
	on, err := parseRail(v.Rail)
	if err != nil {
		return err
	}
	if !isPartnerID(v.ReceiptID) || !isPartnerID(v.PartnerID) {
		return errors.New("reversal.receiptId and reversal.partnerId have 1 to 255 characters, none of them a control character")
	}
	report.Reversals = append(report.Reversals, ports.ReceiptReversal{Platform: p, Rail: on, Receipt: v.ReceiptID, PartnerID: v.PartnerID,
		Code: plaintext.Clean(v.Code, transaction.MaxPartnerCode), Text: plaintext.Clean(v.Text, transaction.MaxPartnerText), At: e.At})
	return nil
}

func (e Event) appendFee(report *ports.RailReport, p ident.Platform) error {
	on, err := parseRail(e.Fee.Rail)
	if err != nil {
		return err
	}
	amount, err := positive(e.Fee.Amount)
	if err != nil {
		return fmt.Errorf("fee.%w", err)
	}
	if !isPartnerID(e.Fee.PartnerID) {
		return errors.New("fee.partnerId has 1 to 255 characters, none of them a control character")
	}
	report.Fees = append(report.Fees, ports.RailFee{Platform: p, Rail: on, PartnerID: e.Fee.PartnerID, Amount: amount, At: e.At,
		Memo: plaintext.Clean(e.Fee.Memo, ledger.MaxMemo)})
	return nil
}

func parseRail(name string) (corridor.Rail, error) {
	on := corridor.RailNamed(name)
	if !on.Known() {
		return on, errors.New("rail is not a known name, such as SEPA")
	}
	return on, nil
}

func positive(a Amount) (money.Amount, error) {
	amount, err := a.amount()
	if err == nil && amount.Minor <= 0 {
		err = errors.New("amount.minor must be positive")
	}
	return amount, err
}

func isPartnerID(text string) bool { return text != "" && isText(text, transaction.MaxPartnerID) }
