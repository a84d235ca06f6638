package bankfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"causeway/core/bankorder"
	"causeway/core/formats/iso20022"
	"causeway/core/transaction"
	"causeway/ports"
)

func (p *piece) receiptOf(e iso20022.Entry, pay iso20022.Payment, at time.Time) ports.RailReceipt {
	payer := payerOf(pay)
	return ports.RailReceipt{Payer: payer, Receipt: transaction.Receipt{Rail: p.a.settings.receiptRail, PartnerID: pay.PartnerID,
		Reference: referenceOf(pay, e.Text), Amount: pay.Amount, At: at, Originator: transaction.OriginatorOf(payer, originatorOf(pay))}}
}

// takeReversal passes on that money received was taken back. The bank names the original payment as it was named when it
// came, though not by its own id of it.
func (p *piece) takeReversal(ctx context.Context, pay iso20022.Payment, place string, at time.Time) error {
	if err := p.keepNames(ctx); err != nil {
		return err
	}
	names := namesOf(pay)
	found, err := p.a.store.ReceiptsByName(ctx, p.a.connection.Name, names)
	if err != nil {
		return err
	}
	code, text := "", ""
	if pay.Return != nil {
		code, text = pay.Return.Code, pay.Return.Text
	}
	for _, name := range names {
		switch receipts := found[name]; {
		case len(receipts) == 0:
		case len(receipts) > 1:
			return p.notice(ctx, bankorder.Contradiction, place, pay.PartnerID, code, "money was taken back, and several payments are named as "+
				"the one that it is of: ask the bank which it is")
		default:
			p.report.Reversals = append(p.report.Reversals, ports.ReceiptReversal{Rail: p.a.settings.receiptRail, Receipt: receipts[0],
				PartnerID: pay.PartnerID, Code: code, Text: text, At: at})
			return nil
		}
	}
	return p.notice(ctx, bankorder.UnknownPayment, place, pay.PartnerID, code, "money was taken back that was not received before as a "+
		"payment: ask the bank which it is of")
}

// namesOf returns how a payment that is received may be named when it is taken back, the surest first. Ids that other banks
// have given are not unique, so that the amount belongs to them.
func namesOf(pay iso20022.Payment) []string {
	var names []string
	add := func(kind, id string) {
		if id == "" {
			return
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %d %s", kind, id, pay.Amount.Minor, pay.Amount.Currency))
		names = append(names, hex.EncodeToString(sum[:16]))
	}
	add("bank", pay.References.PartnerID)
	add("uetr", pay.References.UETR)
	add("clearing", pay.References.ClearingID)
	if pay.References.TransactionID != "" && pay.References.EndToEndID != "" {
		add("transaction and end to end", pay.References.TransactionID+" "+pay.References.EndToEndID)
	}
	add("transaction", pay.References.TransactionID)
	add("end to end", pay.References.EndToEndID)
	return names
}

// keepNames keeps the names of receipts.
func (p *piece) keepNames(ctx context.Context) error {
	if len(p.named) == 0 {
		return nil
	}
	err := p.a.store.KeepReceipts(ctx, p.lease, p.named, p.a.clock.Now())
	if err == nil {
		p.named = nil
	}
	return err
}
