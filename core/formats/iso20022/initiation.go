package iso20022

import (
	"iter"
	"time"

	"github.com/google/uuid"

	"causeway/core/money"
)

// Scheme is how the transfers of a block are carried out.
type Scheme string

// The schemes.
const (
	SEPA        Scheme = "SEPA"         // SEPA credit transfer: EUR, IBAN, service level SEPA
	SEPAInstant Scheme = "SEPA_INSTANT" // SEPA instant credit transfer: the same with the local instrument INST
	Wire        Scheme = "WIRE"         // urgent transfer of one day: service level URGP, priority HIGH
	CrossBorder Scheme = "CROSS_BORDER" // other transfer to another country or in another currency: NURG, NORM
)

// isSEPA reports whether the rules of the SEPA schemes hold.
func (s Scheme) isSEPA() bool { return s == SEPA || s == SEPAInstant }

// Initiation is a file of credit transfers, pain.001.001.09. Names, addresses and texts are written as of plaintext.Transliterate,
// and cut to what the message takes; ids, accounts and amounts are written as they are or refused.
type Initiation struct {
	MessageID string // at most 35 characters, unique for the bank
	CreatedAt time.Time
	Initiator Party
	Blocks    []Block
}

// Block holds the transfers of one account, scheme and date of execution (a PmtInf element).
type Block struct {
	ID            string // at most 35 characters, unique in the file
	Scheme        Scheme
	Currency      money.Currency // of all transfers; EUR for SEPA
	ExecuteOn     time.Time      // its date is written as it is, without another time zone
	Debtor        Party
	DebtorAccount Account
	DebtorAgent   Agent
	// ChargesAccount is debited for the charges of the bank; nil if it is DebtorAccount, and for SEPA.
	ChargesAccount *Account
	// SingleBooking asks the bank to book each transfer by itself, and not the block in one sum.
	SingleBooking bool
	// ChargeBearer is SHAR, DEBT or CRED outside of SEPA, SHAR if it is empty. SEPA always has SLEV.
	ChargeBearer string
	// Transfers yields the transfers. It is called twice if Totals is nil, and must yield the same.
	Transfers iter.Seq2[Transfer, error]
	// Totals are what Transfers yields if that is known before. Another count or sum is an error.
	Totals *Totals
}

// Totals are the number of transfers and the sum of their amounts in minor units of their currency.
type Totals struct {
	Count int
	Sum   money.Total
}

// Transfer is one credit transfer.
type Transfer struct {
	InstructionID string // at most 35 characters; for the bank alone
	EndToEndID    string // at most 35 characters; travels to the creditor
	// UETR is the id of the payment in all networks, as of UETROf; empty leaves it out. It is not written for SEPA, whose
	// guidelines have none.
	UETR            string
	Amount          money.Amount
	Creditor        Party
	CreditorAccount Account
	// CreditorAgent is the bank of the creditor; SEPA needs none, and takes only its BIC.
	CreditorAgent Agent
	// UltimateDebtor is for whom the debtor pays; nil if the debtor pays for itself.
	UltimateDebtor *Party
	// Purpose is a code of ISO's external list of purposes, such as SALA; empty leaves it out.
	Purpose string
	// Remittance is a free text for the creditor, of which 140 characters are written. Reference is a creditor
	// reference (ISO 11649, such as RF18539007547034) and excludes the text.
	Remittance string
	Reference  string
}

// UETROf returns the UETR of a payment: a UUID of version 4, which networks require, derived from the id.
func UETROf(id uuid.UUID) string {
	derived := uuid.NewSHA1(uetrSpace, id[:])
	derived[6] = derived[6]&0x0f | 0x40
	return derived.String()
}

// uetrSpace is the name space of UETROf: a random UUID that never changes.
var uetrSpace = uuid.MustParse("6f0c4c1e-6d5f-4a3e-9d0b-2f6a7c0f8e53")
