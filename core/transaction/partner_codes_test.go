package transaction_test

import (
	"fmt"
	"testing"

	"causeway/core/transaction"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	// A cause that passes is no refusal. An account that cannot pay is temporary if it is ours, and a refusal if it is
	// the payer's. A code that nobody knows is a refusal, because the partner has refused.
	for _, c := range []struct {
		code               string
		payout, collection bool // temporary
		meaning            string
	}{
		{"AC01", false, false, "IncorrectAccountNumber"},
		{"AC04", false, false, "ClosedAccountNumber"},
		{"AC06", false, false, "BlockedAccount"},
		{"AG01", false, false, "TransactionForbidden"},
		{"AM04", true, false, "InsufficientFunds"},
		{"AM05", true, true, "Duplication"},
		{"AM21", true, false, "LimitExceeded"},
		{"BE04", false, false, "MissingCreditorAddress"},
		{"MD07", false, false, "EndCustomerDeceased"},
		{"RR04", false, false, "RegulatoryReason"},
		{"ED06", true, true, "SettlementSystemNotAvailable"},
		{"TM01", true, true, "InvalidCutOffTime"},
		{"AB08", true, true, "OfflineCreditorAgent"},
		{"R01", false, false, "Insufficient Funds"},
		{"R10", false, false, "Customer Advises Originator is Not Known or Not Authorized to Debit"},
		{"R24", false, false, "Duplicate Entry"},
		{"R67", true, true, "Duplicate Return"},
		{"R85", false, false, "Incorrectly Coded Outbound International Payment"},
		{" r02 ", false, false, "Account Closed"},
		{"RATE_UNAVAILABLE", false, false, "No rate for the conversion"},
		{"XX99", false, false, ""},
		{"", false, false, ""},
	} {
		payout, collection := transaction.PayoutRefusal(c.code), transaction.CollectionRefusal(c.code)
		if want := (transaction.Refusal{Reason: payout.Reason, Temporary: c.payout, Meaning: c.meaning}); payout != want {
			t.Errorf("%s of a payout: %+v, want %+v", c.code, payout, want)
		}
		if want := (transaction.Refusal{Reason: collection.Reason, Temporary: c.collection,
			Meaning: c.meaning}); collection != want {
			t.Errorf("%s of a collection: %+v, want %+v", c.code, collection, want)
		}
	}
}

func TestRefusals_Reasons(t *testing.T) {
	t.Parallel()
	// A code of the account that receives, of its amount or of the law gives a payout a reason of its own, and a collection only one of
	// the law: the rest is about the account that pays. All others have the reason of the step.
	failed, collected := transaction.CounterpartyPostFailed, transaction.QuoteExecutionFailed
	for code, want := range map[string][2]transaction.FailureReason{
		"AC04": {transaction.AccountInvalid, collected}, "ac01 ": {transaction.AccountInvalid, collected},
		"R03": {transaction.AccountInvalid, collected}, "BE06": {transaction.AccountInvalid, collected},
		"AC06": {transaction.AccountCannotReceive, collected}, "R20": {transaction.AccountCannotReceive, collected},
		"AM14": {transaction.LimitExceeded, collected},
		"RR04": {transaction.ComplianceRejected, transaction.ComplianceRejected},
		"FRAD": {transaction.ComplianceRejected, transaction.ComplianceRejected},
		"AM04": {failed, collected}, "R01": {failed, collected}, "XX99": {failed, collected}, "": {failed, collected},
		"RATE_UNAVAILABLE": {transaction.QuoteRateUnavailable, collected},
	} {
		payout, collection := transaction.PayoutRefusal(code).Reason, transaction.CollectionRefusal(code).Reason
		if payout != want[0] || collection != want[1] {
			t.Errorf("%q: %s and %s, want %v", code, payout, collection, want)
		}
	}
}

func TestRefusals_NachaCodesAreKnown(t *testing.T) {
	t.Parallel()
	// Every return reason code is known, except those that the rules do not assign.
	unassigned := map[int]bool{48: true, 49: true, 54: true, 55: true, 56: true, 57: true, 58: true, 59: true, 60: true,
		63: true, 64: true, 65: true, 66: true, 78: true, 79: true}
	for n := 1; n <= 85; n++ {
		if known := transaction.CollectionRefusal(fmt.Sprintf("R%02d", n)).Meaning != ""; known == unassigned[n] {
			t.Errorf("R%02d is known: %t", n, known)
		}
	}
}

func TestIsUnknownCode(t *testing.T) {
	t.Parallel()
	// A code is known if a standard has it for a status, a return, a reversal or a cancellation, in any case; no code at all is none
	// that somebody could ask about. Unassigned numbers of Nacha are not known.
	for code, unknown := range map[string]bool{"AC04": false, " ac04 ": false, "R01": false, "DUPL": false, "TECH": false,
		"BE16": false, "FRAD": false,
		"": false, "REVERTED": false, "XX99": true, "AC99": true, "R48": true, "R99": true, "CLOSED": true} {
		if got := transaction.IsUnknownCode(code); got != unknown {
			t.Errorf("%q is unknown: %t", code, got)
		}
	}
}
