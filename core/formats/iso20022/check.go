package iso20022

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"causeway/core/plaintext"
)

// TransferError says why a transfer cannot be written, and what to do. It names no person and no account.
type TransferError struct {
	EndToEndID string
	Problem    string
}

func (e *TransferError) Error() string {
	return fmt.Sprintf("transfer %q: %s", e.EndToEndID, e.Problem)
}

// Limits of the messages and of the SEPA schemes.
const (
	maxIDLength       = 35
	maxNameSEPA       = 70
	maxName           = 140
	maxRemittance     = 140
	maxInformation    = 500
	maxCode           = 4 // of most lists of ISO
	maxSEPAMinor      = 999_999_999_99
	maxStreet         = 70 // and of a room, and of a line of an address
	maxTown           = 35
	maxState          = 35
	maxPostalCode     = 16
	maxBuildingNumber = 16
	maxAddressLines   = 2
	maxNumber         = 34 // of an account without an IBAN
)

// CheckTransfer returns a TransferError if a transfer cannot be written in this block.
func (b Block) CheckTransfer(t Transfer) error {
	var problem error
	switch {
	case t.Amount.Currency != b.Currency:
		problem = fmt.Errorf("its currency is %q, and that of its block %q: put it into another block", t.Amount.Currency, b.Currency)
	case t.Amount.Minor <= 0:
		problem = errors.New("its amount is not above zero")
	case b.Scheme.isSEPA() && t.Amount.Minor > maxSEPAMinor:
		problem = errors.New("its amount is above 999,999,999.99, the most that SEPA takes: divide it, or send it by wire")
	case t.Purpose != "" && (len(t.Purpose) > 4 || !isUpperOrDigit(t.Purpose)):
		problem = fmt.Errorf("the purpose %q is not a code of ISO 20022", t.Purpose)
	case t.UETR != "" && !isUETR(t.UETR):
		problem = fmt.Errorf("the UETR %q is not a UUID of version 4 in lower case", t.UETR)
	case t.Reference != "" && t.Remittance != "":
		problem = errors.New("it has a reference and a text for the creditor: give only one")
	default:
		problem = b.checkReceiver(t)
	}
	if problem != nil {
		return &TransferError{t.EndToEndID, problem.Error()}
	}
	return nil
}

// checkReceiver checks the texts of a transfer, and where it goes.
func (b Block) checkReceiver(t Transfer) error {
	err := cmp.Or(
		checkID("instruction id", t.InstructionID),
		checkID("end-to-end id", t.EndToEndID),
		checkAccount("creditor", t.CreditorAccount, b.Scheme),
		checkAgent("creditor's bank", t.CreditorAgent),
		checkParty("creditor", t.Creditor),
	)
	if address := t.Creditor.Address; b.Scheme.isSEPA() && address != nil && len(address.Lines) > 0 {
		err = cmp.Or(err, errors.New("the address of the creditor has lines: SEPA takes only structured ones"))
	}
	if t.Reference != "" {
		err = cmp.Or(err, checkID("reference", t.Reference))
	}
	if t.UltimateDebtor != nil {
		err = cmp.Or(err, checkParty("ultimate debtor", *t.UltimateDebtor))
	}
	if !b.Scheme.isSEPA() && t.CreditorAgent.BIC == "" && t.CreditorAgent.MemberID == "" {
		err = cmp.Or(err, errors.New("the creditor's bank has neither a BIC nor a number in a clearing system"))
	}
	return err
}

// check checks a block without its transfers.
func (b Block) check() error {
	err := cmp.Or(
		checkID("block id", b.ID),
		checkAccount("debtor", b.DebtorAccount, b.Scheme),
		checkAgent("debtor's bank", b.DebtorAgent),
		checkParty("debtor", b.Debtor),
	)
	if b.ChargesAccount != nil {
		err = cmp.Or(err, checkAccount("charges", *b.ChargesAccount, b.Scheme))
	}
	switch {
	case err != nil:
		return err
	case b.Scheme.isSEPA() && b.ChargesAccount != nil:
		return errors.New("SEPA takes no account for charges")
	case b.Scheme.isSEPA() && b.Debtor.Address != nil && len(b.Debtor.Address.Lines) > 0:
		return errors.New("the address of the debtor has lines: SEPA takes only structured ones")
	case b.Scheme != SEPA && b.Scheme != SEPAInstant && b.Scheme != Wire && b.Scheme != CrossBorder:
		return fmt.Errorf("the scheme %q is unknown", b.Scheme)
	case !b.Currency.Known() || b.Currency.IsCrypto() || len(b.Currency) != 3:
		return fmt.Errorf("the currency %q is none of ISO 4217", b.Currency)
	case b.Scheme.isSEPA() && b.Currency != "EUR":
		return fmt.Errorf("SEPA takes EUR, not %s", b.Currency)
	case b.Scheme.isSEPA() && b.ChargeBearer != "" && b.ChargeBearer != "SLEV":
		return fmt.Errorf("SEPA takes the charge bearer SLEV, not %q", b.ChargeBearer)
	case !b.Scheme.isSEPA() && b.ChargeBearer != "" && b.ChargeBearer != "SHAR" && b.ChargeBearer != "DEBT" && b.ChargeBearer != "CRED":
		return fmt.Errorf("the charge bearer %q is none of SHAR, DEBT and CRED", b.ChargeBearer)
	case !hasYearOfFourDigits(b.ExecuteOn):
		return errors.New("it has no date of execution")
	case b.Transfers == nil:
		return errors.New("it has no transfers")
	}
	return nil
}

// checkID checks a text that must come back as it is. Banks refuse slashes at its ends and two in a row.
func checkID(name, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("the %s is empty", name)
	case len(id) > maxIDLength:
		return fmt.Errorf("the %s %q has more than %d characters", name, id, maxIDLength)
	case plaintext.Transliterate(id) != id:
		return fmt.Errorf("the %s %q has other characters than A-Z, a-z, 0-9, single spaces and / - ? : ( ) . , ' +", name, id)
	case strings.HasPrefix(id, "/"), strings.HasSuffix(id, "/"), strings.Contains(id, "//"):
		return fmt.Errorf("the %s %q begins or ends with a slash, or has two in a row", name, id)
	}
	return nil
}

func checkParty(name string, p Party) error {
	switch {
	case !plaintext.HasLetters(plaintext.Transliterate(p.Name)):
		return fmt.Errorf("the name of the %s is empty or in a script that banks do not take: write it in Latin letters", name)
	case p.OrganisationID != "" && checkID("id of the "+name, p.OrganisationID) != nil:
		return checkID("id of the "+name, p.OrganisationID)
	case p.OrganisationScheme != "" && (len(p.OrganisationScheme) > 4 || !isUpperOrDigit(p.OrganisationScheme)):
		return fmt.Errorf("the scheme %q of the id of the %s is not a code of ISO 20022", p.OrganisationScheme, name)
	case p.Address != nil:
		return checkAddress(name, *p.Address)
	}
	return nil
}

// checkAddress checks what structured and hybrid addresses must have since 2026.
func checkAddress(name string, a Address) error {
	switch {
	case !plaintext.HasLetters(plaintext.Transliterate(a.Town)):
		return fmt.Errorf("the address of the %s has no town", name)
	case len(a.Country) != 2 || !isUpper(a.Country):
		return fmt.Errorf("the country %q of the address of the %s is not a code of ISO 3166-1", a.Country, name)
	case len(a.Lines) > maxAddressLines:
		return fmt.Errorf("the address of the %s has more than %d lines", name, maxAddressLines)
	}
	return nil
}

func checkAccount(name string, a Account, scheme Scheme) error {
	switch {
	case a.IBAN != "" && !isIBAN(a.IBAN):
		return fmt.Errorf("the IBAN of the %s account has wrong check digits or characters: compare it with the contract", name)
	case a.IBAN == "" && scheme.isSEPA():
		return fmt.Errorf("the %s account has no IBAN, which SEPA needs", name)
	case a.IBAN != "":
		return nil
	case a.Number == "" || len(a.Number) > maxNumber || plaintext.Transliterate(a.Number) != a.Number:
		return fmt.Errorf("the number of the %s account is empty, longer than %d characters, or has other characters than banks take",
			name, maxNumber)
	case a.NumberScheme != "" && (len(a.NumberScheme) > 4 || !isUpperOrDigit(a.NumberScheme)):
		return fmt.Errorf("the scheme %q of the %s account is not a code of ISO 20022", a.NumberScheme, name)
	case a.Currency != "" && (len(a.Currency) != 3 || !isUpper(a.Currency)):
		return fmt.Errorf("the currency %q of the %s account is none of ISO 4217", a.Currency, name)
	}
	return nil
}

func checkAgent(name string, a Agent) error {
	switch {
	case a.BIC != "" && !isBIC(a.BIC):
		return fmt.Errorf("the BIC %q of the %s is wrong", a.BIC, name)
	case (a.ClearingSystem != "") && (a.MemberID == "" || len(a.ClearingSystem) > 5 || !isUpperOrDigit(a.ClearingSystem)):
		return fmt.Errorf("the clearing system %q of the %s is not a code of ISO 20022 with a number", a.ClearingSystem, name)
	case a.MemberID != "" && (len(a.MemberID) > maxIDLength || plaintext.Transliterate(a.MemberID) != a.MemberID):
		return fmt.Errorf("the number %q of the %s has other characters than banks take, or is too long", a.MemberID, name)
	case a.Address != nil:
		return checkAddress(name, *a.Address)
	}
	return nil
}

func hasYearOfFourDigits(t time.Time) bool { return t.Year() > 1999 && t.Year() < 10_000 }
