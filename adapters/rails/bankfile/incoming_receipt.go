package bankfile

import (
	"cmp"
	"slices"
	"strings"

	"causeway/core/account"
	"causeway/core/formats/iso20022"
	"causeway/core/plaintext"
	"causeway/core/transaction"
)

const (
	// maxReferenceText is what is kept of what a payer has written, in bytes.
	maxReferenceText = 8000
	// referenceDigits is the length of a reference, without the prefix of those of accounts.
	referenceDigits  = 12
	fundingPrefix    = "FUND-"
	referenceLetters = "ABCDEFGHJKMNPQRSTVWXYZ"
	decimalDigits    = "0123456789"
)

// referenceOf returns the reference of ours that a payer has written, in whichever place and between whichever words. If
// there is none or are several, it is all that the payer has written.
func referenceOf(pay iso20022.Payment, entryText string) string {
	places := []string{pay.Remittance, strings.Join(pay.CreditorReferences, " "), pay.References.EndToEndID, strings.Join(pay.Documents, " "),
		pay.Text, entryText}
	for _, text := range places {
		if found := referenceIn(text); found != "" {
			return found
		}
	}
	return plaintext.Clean(cmp.Or(places...), maxReferenceText)
}

// referenceIn returns the only reference in a text: of an account, or else one with letters and digits, or else one of letters.
func referenceIn(text string) string {
	var candidates [3][]string
	for _, word := range strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return !isReferenceRune(r) }) {
		code, isFunding := strings.CutPrefix(word, fundingPrefix)
		if !isFunding {
			for part := range strings.SplitSeq(word, "-") {
				if kind := kindOfReference(part); kind > 0 && !slices.Contains(candidates[kind], part) {
					candidates[kind] = append(candidates[kind], part)
				}
			}
		} else if kindOfReference(code) > 0 && !slices.Contains(candidates[0], word) {
			candidates[0] = append(candidates[0], word)
		}
	}
	for _, found := range candidates {
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			return ""
		}
	}
	return ""
}

func isReferenceRune(r rune) bool {
	return r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'
}

// kindOfReference returns 1 for what a reference looks like, 2 for what may be a word too, and 0 for others. One of digits
// alone is less likely than the number of an invoice.
func kindOfReference(word string) int {
	switch {
	case len(word) != referenceDigits || strings.Trim(word, referenceLetters+decimalDigits) != "":
		return 0
	case !strings.ContainsAny(word, referenceLetters):
		return 0
	case strings.ContainsAny(word, decimalDigits):
		return 1
	}
	return 2
}

// maxPayerField bounds what is kept of a payer.
const maxPayerField = 140

// payerOf returns the account that money came from; nil if the bank has not named it.
func payerOf(pay iso20022.Payment) *account.External {
	iban, number, agent := pay.DebtorAccount.IBAN, pay.DebtorAccount.Number, pay.DebtorAgent
	payer := account.External{Currency: pay.Amount.Currency, Fields: map[string]string{}}
	set := func(name, value string) {
		if value = cut(value); value != "" {
			payer.Fields[name] = value
		}
	}
	switch {
	case len(iban) > 2 && pay.Amount.Currency == "EUR":
		payer.Type = "EUR_ACCOUNT"
		set("iban", iban)
	case len(iban) > 2:
		payer.Type = account.SWIFTAccount
		set("iban", iban)
		set("country", iban[:2])
	case number != "" && agent.ClearingSystem == clearingUS:
		payer.Type = account.USAccount
		set("accountNumber", number)
		set("routingNumber", agent.MemberID)
	case number != "" && len(agent.BIC) >= 8:
		payer.Type = account.SWIFTAccount
		set("accountNumber", number)
		set("country", agent.BIC[4:6])
	default:
		return nil
	}
	if payer.Type != account.USAccount {
		set("swiftCode", agent.BIC)
	}
	set("bankName", agent.Name)
	if name := cut(pay.Debtor.Name); name != "" {
		payer.Beneficiary = &account.Beneficiary{Type: account.Individual, FullName: name}
	}
	return &payer
}

// originatorOf returns what the bank says about the payer besides its account.
func originatorOf(pay iso20022.Payment) transaction.Originator {
	return transaction.Originator{Name: pay.Debtor.Name, Account: pay.DebtorAccount.ID(),
		BankName: pay.DebtorAgent.Name, Bank: cmp.Or(pay.DebtorAgent.BIC, pay.DebtorAgent.MemberID),
		EndToEndID: pay.References.EndToEndID, TraceNumber: cmp.Or(pay.References.ClearingID, pay.References.TransactionID, pay.References.UETR),
		Remittance: cmp.Or(pay.Remittance, strings.Join(pay.CreditorReferences, " "))}
}

// cut returns the beginning of a text.
func cut(text string) string {
	text = clean(text)
	if letters := []rune(text); len(letters) > maxPayerField {
		return string(letters[:maxPayerField])
	}
	return text
}
