package bankfile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/bankorder"
	"causeway/core/formats/iso20022"
	"causeway/core/formats/nacha"
	"causeway/core/rail"
)

// fileOrders is how many orders of a file are changed at once by a status of the whole file.
const fileOrders = 1000

// statusStates has what the codes of ISO 20022 for the status of a payment mean for an order. Those that say only that
// something was received, or that what is below has statuses of its own, mean nothing.
var statusStates = map[string]bankorder.State{
	"RCVD": "", "PART": "", "PATC": "",
	"ACTC": bankorder.Accepted, "ACCP": bankorder.Accepted, "ACWC": bankorder.Accepted, "ACFC": bankorder.Accepted,
	"ACSP": bankorder.Pending, "PDNG": bankorder.Pending, "ACWP": bankorder.Pending, "BLCK": bankorder.Pending,
	"ACSC": bankorder.Settled, "ACCC": bankorder.Settled,
	"RJCT": bankorder.Rejected, "CANC": bankorder.Rejected,
}

// duplicateReasons say that the bank has received a file or payment before: the earlier one may have been paid, so that
// the money must not be given back.
var duplicateReasons = []string{"AM05", "RF01", "DU01", "DU02", "DU03", "DU04", "DU05", "DUPL", "FF08"}

func isDuplicate(reasons []iso20022.Reason) bool {
	return slices.ContainsFunc(reasons, func(r iso20022.Reason) bool { return slices.Contains(duplicateReasons, r.Code) })
}

// messageOf returns the message of ours that a status is about. Our files have one block, with the id of the message.
func messageOf(s iso20022.Status) string { return cmp.Or(s.OriginalMessageID, s.OriginalBlockID) }

func (p *piece) takeStatus(ctx context.Context, s iso20022.Status) (bool, error) {
	place := fmt.Sprintf("status %d, line %d", p.r.given, s.Line)
	code, text := reasonOf(s.Reasons)
	state, known := statusStates[s.Code]
	report := bankorder.Report{State: state, PartnerID: s.PartnerID, Code: code, Text: text, At: s.AcceptedAt}
	if report.At.IsZero() {
		report.At = s.CreatedAt
	}
	if state == bankorder.Settled {
		report.Settles = p.a.settings.settledBy(settlesOnStatus)
	}
	duplicate := isDuplicate(s.Reasons) || state == bankorder.Rejected && p.r.duplicates[messageOf(s)]
	name := s.OriginalEndToEndID
	if s.Level != iso20022.StatusOfTransfer {
		name = messageOf(s)
	}
	switch {
	case !known && s.Code != "":
		return true, p.notice(ctx, bankorder.Contradiction, place, name, s.Code, "the bank uses a status that is not known: ask it what it means")
	case s.Level == iso20022.StatusOfTransfer && (state != "" || duplicate):
		order := OrderReport{EndToEndID: orderID(s.OriginalEndToEndID, s.OriginalInstructionID), Place: place, Report: report}
		if duplicate {
			order.Notice = bankorder.DuplicateFile
		}
		p.reports = append(p.reports, order)
		return true, nil
	case duplicate:
		return true, p.notice(ctx, bankorder.DuplicateFile, place, name, code, "the bank takes a file for a duplicate: ask which of its "+
			"payments it has made")
	case state == "" || s.Level == iso20022.StatusOfTransfer:
		return true, nil
	}
	return p.takeFileStatus(ctx, place, name, report)
}

// takeFileStatus applies a status to all orders of a file of ours that have none of their own.
func (p *piece) takeFileStatus(ctx context.Context, place, messageID string, report bankorder.Report) (bool, error) {
	if err := p.apply(ctx); err != nil {
		return false, err
	}
	for {
		changed, problem, err := p.a.store.ReportFile(ctx, p.lease, p.r.file.Number, messageID, report, p.a.clock.Now(), fileOrders)
		switch {
		case err != nil:
			return false, err
		case problem != "":
			return true, p.notice(ctx, problem, place, messageID, report.Code, "the bank names a file that is none of ours")
		case changed < fileOrders:
			return true, nil
		case time.Now().After(p.until):
			return false, nil
		}
	}
}

// reasonOf returns the first code of reasons, and all their texts.
func reasonOf(reasons []iso20022.Reason) (code, text string) {
	var texts []string
	for _, r := range reasons {
		code = cmp.Or(code, r.Code)
		if r.Text != "" {
			texts = append(texts, r.Text)
		}
	}
	return code, strings.Join(texts, " ")
}

// orderID returns how a bank names an order of ours: by its end-to-end id, or by the id of the instruction, which is the same.
func orderID(endToEndID, instructionID string) string {
	if isOurs(instructionID) && !isOurs(endToEndID) {
		return strings.ToUpper(instructionID)
	}
	if isOurs(endToEndID) {
		return strings.ToUpper(endToEndID)
	}
	return endToEndID
}

// isOurs reports whether an id has the form of those of our orders.
func isOurs(id string) bool {
	subject, _, _ := strings.Cut(id, "-")
	_, is := rail.SubjectOf(subject)
	return is
}

func (p *piece) takeReturn(r nacha.Return) {
	report := OrderReport{Key: r.Key, Place: fmt.Sprintf("return %d, line %d", p.r.given, r.Line),
		Report: bankorder.Report{State: bankorder.Returned, PartnerID: r.Trace, Code: r.Code, Text: r.Information, At: r.SettledOn}}
	if r.Amount.Minor != 0 {
		report.Amount = r.Amount
	}
	if r.Kind != nacha.Returned { // a dispute between the banks, about a return that was reported before
		report.Notice = bankorder.Contradiction
	}
	p.addACH(report, r.OriginalTrace)
}

func (p *piece) takeChange(c nacha.Change) {
	report := OrderReport{Key: c.Key, Place: fmt.Sprintf("change %d, line %d", p.r.given, c.Line), Notice: bankorder.Correction,
		Report: bankorder.Report{Code: c.Code}}
	if c.Refused {
		report.Notice = bankorder.Contradiction
	} else {
		report.Correction = map[string]string{"data": c.Data}
		for name, value := range map[string]string{"routingNumber": c.Routing, "accountNumber": c.Account, "name": c.Name,
			"identification": c.Identification} {
			if value != "" {
				report.Correction[name] = value
			}
		}
		if c.TransactionCode != 0 {
			report.Correction["transactionCode"] = fmt.Sprint(c.TransactionCode)
		}
	}
	p.addACH(report, c.OriginalTrace)
}

// addACH adds a report. One without the key of the payment is a notice with the trace number.
func (p *piece) addACH(report OrderReport, originalTrace string) {
	if report.Key == "" {
		report.EndToEndID = originalTrace
	}
	p.reports = append(p.reports, report)
}
