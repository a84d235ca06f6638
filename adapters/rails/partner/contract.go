package partner

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/money"
)

// Kind is a kind of payment.
type Kind string

// The kinds. Each has a path of its own.
const (
	Payout     Kind = "PAYOUT"
	Collection Kind = "COLLECTION"
	Refund     Kind = "REFUND"
)

// Path returns the path to which payments of the kind are sent, below the URL of the partner.
func (k Kind) Path() string {
	switch k {
	case Payout:
		return "/payouts"
	case Collection:
		return "/collections"
	case Refund:
		return "/refunds"
	}
	return ""
}

// Payment is the body of a request that sends, pulls or refunds money.
type Payment struct {
	Kind       Kind   `json:"kind" enum:"PAYOUT,COLLECTION,REFUND" doc:"What to do. It belongs to the path: PAYOUT to /payouts, COLLECTION to /collections, REFUND to /refunds."`
	ID         string `json:"id" format:"uuid" doc:"Id of the payment, which with its kind makes requests idempotent: the refund of a payout has the id of the payout."`
	EndToEndID string `json:"endToEndId" pattern:"^[0-9A-F]{32}$" doc:"The id that travels with the payment, as the end-to-end id of ISO 20022. Statements name the payment by it. The refund of a payout has that of the payout."`
	PlatformID string `json:"platformId" maxLength:"100" doc:"The platform whose payment it is. Events about the payment repeat it."`
	Amount     Amount `json:"amount" doc:"How much to send, to pull or to send back."`
	Rail       string `json:"rail" maxLength:"40" doc:"The payment system or chain to use, such as SEPA. A refund takes the one that received the money."`
	Reference  string `json:"reference,omitempty" doc:"Reference of the payment at the service; of a refund, what the payer wrote."`
	Memo       string `json:"memo,omitempty" doc:"Text for the other side's statement. Shorten it to what the rail carries."`
	Purpose    string `json:"purposeOfPayment,omitempty" maxLength:"40" doc:"Of a payout: what it is for, if the platform has said so, such as SALARY_PAYMENT."`
	// Account is the beneficiary of a payout, the payer of a collection, and of a refund the payer, if known.
	Account  *Account  `json:"account,omitempty" doc:"The account at the other side: the beneficiary's of a payout, the payer's of a collection and, if it is known, of a refund."`
	Original *Original `json:"original,omitempty" doc:"Of a refund: the payment that had brought the money."`
}

// Account is an account outside the service.
type Account struct {
	Type     string            `json:"type" maxLength:"40" doc:"Type of the account, as in the accountInfo of the service's own API, such as EUR_ACCOUNT."`
	Currency string            `json:"currency" maxLength:"10" doc:"ISO 4217 code, or that of a crypto currency."`
	Country  string            `json:"country,omitempty" doc:"Country of the account, ISO 3166-1 alpha-2. None for wallets."`
	Fields   map[string]string `json:"fields" doc:"The fields of the type, such as iban and swiftCode of an EUR_ACCOUNT."`
	Holder   *Holder           `json:"holder,omitempty" doc:"Who owns it. None for wallets."`
}

// Holder is the owner of an account.
type Holder struct {
	Type               string   `json:"type,omitempty" enum:"INDIVIDUAL,BUSINESS" doc:"Person or business."`
	Name               string   `json:"name" maxLength:"200" doc:"Full name of the person, or legal name of the business."`
	BirthDate          string   `json:"birthDate,omitempty" doc:"YYYY-MM-DD."`
	Nationality        string   `json:"nationality,omitempty" doc:"ISO 3166-1 alpha-2."`
	Email              string   `json:"email,omitempty" doc:"Email address."`
	PhoneNumber        string   `json:"phoneNumber,omitempty" doc:"E.164."`
	CountryOfResidence string   `json:"countryOfResidence,omitempty" doc:"ISO 3166-1 alpha-2."`
	Address            *Address `json:"address,omitempty" doc:"Postal address."`
	RegistrationNumber string   `json:"registrationNumber,omitempty" doc:"Of a business."`
	TaxID              string   `json:"taxId,omitempty" doc:"Tax id."`
	DocumentType       string   `json:"documentType,omitempty" doc:"Type of an identity document."`
	DocumentNumber     string   `json:"documentNumber,omitempty" doc:"Number of the identity document."`
}

// Address is a postal address.
type Address struct {
	Line1      string `json:"line1" doc:"First line."`
	Line2      string `json:"line2,omitempty" doc:"Second line."`
	City       string `json:"city,omitempty" doc:"City."`
	State      string `json:"state,omitempty" doc:"State or province."`
	PostalCode string `json:"postalCode,omitempty" doc:"Postal code."`
	Country    string `json:"country" doc:"ISO 3166-1 alpha-2."`
}

// Original is the payment that had brought the money of a refund.
type Original struct {
	PartnerID  string   `json:"partnerId,omitempty" doc:"The partner's id of it, as in its receipt."`
	EndToEndID string   `json:"endToEndId,omitempty" doc:"If it was a collection: the endToEndId of that."`
	Payer      *Account `json:"payer,omitempty" doc:"The account that it came from, if the partner has named it."`
}

// Status is what became of a payment.
type Status string

// The statuses.
const (
	Accepted Status = "ACCEPTED"
	Pending  Status = "PENDING"
	Settled  Status = "SETTLED"
	Rejected Status = "REJECTED"
	Returned Status = "RETURNED"
)

// State is the answer to a request about a payment.
type State struct {
	ID        string `json:"id" format:"uuid" doc:"Id of the payment, as in the request."`
	Status    Status `json:"status" enum:"ACCEPTED,PENDING,SETTLED,REJECTED,RETURNED" doc:"ACCEPTED: it will be done. PENDING: not accepted yet; the partner goes on by itself. SETTLED: it was done. REJECTED: it will never be done, and no money has moved. RETURNED: it was done, and the money came back."`
	Amount    Amount `json:"amount" doc:"The amount of the request."`
	PartnerID string `json:"partnerId,omitempty" maxLength:"255" doc:"The partner's id of the payment, as its statements name it. Once given it does not change."`
	// TransactionHash is for chains.
	TransactionHash string `json:"transactionHash,omitempty" maxLength:"255" doc:"Hash of the transfer, if the rail is a chain and it is known."`
	Code            string `json:"code,omitempty" maxLength:"40" doc:"Reason of PENDING, REJECTED or RETURNED: the code of the rail if it has one, such as AC04 (ISO 20022) or R01 (Nacha). Required if REJECTED or RETURNED."`
	Text            string `json:"text,omitempty" maxLength:"500" doc:"The reason in words, for operators. No personal data."`

	AcceptedAt           time.Time `json:"acceptedAt,omitzero" doc:"When it was accepted. Kept if it is rejected later."`
	SettledAt            time.Time `json:"settledAt,omitzero" doc:"When it was done. Required if SETTLED or RETURNED."`
	ReturnedAt           time.Time `json:"returnedAt,omitzero" doc:"When the money came back. Required if RETURNED."`
	ExpectedSettlementAt time.Time `json:"expectedSettlementAt,omitzero" doc:"When it is expected to settle, if ACCEPTED or PENDING."`
	ReturnableUntil      time.Time `json:"returnableUntil,omitzero" doc:"If SETTLED: until when it may still be returned. It is asked about once a day until then."`
}

// EventType is a type of event.
type EventType string

// The types of event.
const (
	PaymentChanged  EventType = "PAYMENT"
	MoneyReceived   EventType = "RECEIPT"
	ReceiptReversed EventType = "REVERSAL"
	FeeCharged      EventType = "FEE"
	BalanceNamed    EventType = "BALANCE"
)

// Event is what a partner reports by itself. Exactly the object of its type is set.
type Event struct {
	ID   string    `json:"id" minLength:"1" maxLength:"200" pattern:"^[!-~]+$" doc:"Id of the event, which the partner never uses again."`
	Type EventType `json:"type" enum:"PAYMENT,RECEIPT,REVERSAL,FEE,BALANCE" doc:"Says which of the objects the event has."`
	At   time.Time `json:"at" doc:"When it happened."`
	// PlatformID is the platform whose money it is; empty if the account serves several.
	PlatformID string `json:"platformId,omitempty" maxLength:"100" doc:"Platform of a receipt, reversal or fee, if the account serves one platform only."`

	Payment  *PaymentEvent  `json:"payment,omitempty" doc:"A payment whose state has changed: settled, rejected, returned. The service then asks for its state."`
	Receipt  *ReceiptEvent  `json:"receipt,omitempty" doc:"Money that was received."`
	Reversal *ReversalEvent `json:"reversal,omitempty" doc:"Money that was received and has been taken back."`
	Fee      *FeeEvent      `json:"fee,omitempty" doc:"What the partner has charged."`
	Balance  *Amount        `json:"balance,omitempty" doc:"What the account held, at the time of the event."`
}

// PaymentEvent names a payment that has changed.
type PaymentEvent struct {
	Kind       Kind   `json:"kind" enum:"PAYOUT,COLLECTION,REFUND" doc:"Kind of the payment."`
	ID         string `json:"id" format:"uuid" doc:"Id of the payment."`
	PlatformID string `json:"platformId" maxLength:"100" doc:"Its platform, as in the request."`
	Status     Status `json:"status" enum:"ACCEPTED,PENDING,SETTLED,REJECTED,RETURNED" doc:"Its status now."`
}

// ReceiptEvent is money that was received.
type ReceiptEvent struct {
	PartnerID string   `json:"partnerId" minLength:"1" maxLength:"255" doc:"The partner's id of the payment, which it uses once for the rail."`
	Rail      string   `json:"rail" maxLength:"40" doc:"The payment system or chain that brought it."`
	Amount    Amount   `json:"amount" doc:"How much was received."`
	Reference string   `json:"reference,omitempty" maxLength:"2000" doc:"What the payer wrote."`
	Payer     *Account `json:"payer,omitempty" doc:"The account that it came from, if it is known."`

	EndToEndID            string `json:"endToEndId,omitempty" maxLength:"255" doc:"The id that the payer has given to the payment."`
	TraceNumber           string `json:"traceNumber,omitempty" maxLength:"255" doc:"The id of the payment in the payment system, such as the trace number of ACH."`
	RemittanceInformation string `json:"remittanceInformation,omitempty" maxLength:"1000" doc:"What the payer wrote for the receiver, if the partner tells it apart from the reference."`
	TransactionHash       string `json:"transactionHash,omitempty" maxLength:"255" doc:"Hash of the transfer, if the rail is a chain."`
}

// ReversalEvent is money that was taken back.
type ReversalEvent struct {
	ReceiptID string `json:"receiptId" minLength:"1" maxLength:"255" doc:"partnerId of the receipt."`
	PartnerID string `json:"partnerId" minLength:"1" maxLength:"255" doc:"The partner's id of the reversal."`
	Rail      string `json:"rail" maxLength:"40" doc:"Rail of the receipt."`
	Code      string `json:"code,omitempty" maxLength:"40" doc:"Reason."`
	Text      string `json:"text,omitempty" maxLength:"500" doc:"The reason in words, for operators."`
}

// FeeEvent is what the partner has charged.
type FeeEvent struct {
	PartnerID string `json:"partnerId" minLength:"1" maxLength:"255" doc:"The partner's id of the fee."`
	Rail      string `json:"rail" maxLength:"40" doc:"Rail for whose payments it was charged."`
	Amount    Amount `json:"amount" doc:"How much, as a positive number."`
	Memo      string `json:"memo,omitempty" maxLength:"200" doc:"What for."`
}

// EventPage is the answer to GET /events.
type EventPage struct {
	Events []Event `json:"events" maxItems:"200" doc:"The events after the cursor, oldest first."`
	Cursor string  `json:"cursor" maxLength:"200" pattern:"^[!-~]*$" doc:"Continues after these events. It stays valid: a request that is repeated with an old cursor has the same events again."`
	More   bool    `json:"more" doc:"Whether there are more events now."`
}

// BalanceList is the answer to GET /balances.
type BalanceList struct {
	Balances []Balance `json:"balances" maxItems:"200" doc:"What the account holds, one element for each currency."`
}

// Balance is what the account holds.
type Balance struct {
	Amount Amount    `json:"amount" doc:"The booked balance; negative if overdrawn."`
	At     time.Time `json:"at" doc:"When it was that."`
}

// Health is the answer to GET /health.
type Health struct {
	Name    string `json:"name" minLength:"1" maxLength:"100" doc:"Name of the provider, for operators."`
	Version string `json:"version,omitempty" maxLength:"100" doc:"Version of the sidecar."`
	Text    string `json:"text,omitempty" maxLength:"500" doc:"What an operator should know, such as which account is connected."`
}

// Problem is the answer to a request that fails.
type Problem struct {
	Message string `json:"message" maxLength:"500" doc:"What is wrong, in words and without personal data."`
}

// Amount is an amount of money.
type Amount struct {
	Minor    Minor  `json:"minor" doc:"The amount in the smallest unit of the currency. The service sends a string of digits, and reads a string or an integer."`
	Currency string `json:"currency" maxLength:"10" doc:"ISO 4217 code, or that of a crypto currency."`
	Decimals int    `json:"decimals" minimum:"0" maximum:"18" doc:"How many decimal places the smallest unit has: 1050 with 2 decimals is 10.50."`
}

// Minor is an amount in the smallest unit, which JSON has as a string or an integer.
type Minor int64

// Schema implements huma.SchemaProvider.
func (Minor) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString, Pattern: "^-?[0-9]{1,19}$"}, {Type: huma.TypeInteger, Format: "int64"}},
		Examples: []any{"1050"}}
}

// MarshalJSON implements json.Marshaler.
func (m Minor) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatInt(int64(m), 10) + `"`), nil
}

// UnmarshalJSON implements json.Unmarshaler. Fractions and exponents are refused.
func (m *Minor) UnmarshalJSON(text []byte) error {
	digits := string(text)
	if len(digits) >= 2 && digits[0] == '"' && digits[len(digits)-1] == '"' {
		digits = digits[1 : len(digits)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || digits[0] == '+' {
		return errors.New("minor must be a whole number of at most 19 digits, as a string or an integer")
	}
	*m = Minor(n)
	return nil
}

func newAmount(a money.Amount) Amount {
	return Amount{Minor: Minor(a.Minor), Currency: string(a.Currency), Decimals: a.Currency.Decimals()}
}

// amount returns the amount, or an error if its currency is unknown or has other decimals.
func (a Amount) amount() (money.Amount, error) {
	currency, err := money.ParseCurrency(a.Currency)
	if err != nil {
		return money.Amount{}, errors.New("amount.currency is not a known code")
	}
	if a.Decimals != currency.Decimals() {
		return money.Amount{}, fmt.Errorf("amount.decimals is %d; %s has %d", a.Decimals, currency, currency.Decimals())
	}
	return money.Amount{Minor: int64(a.Minor), Currency: currency}, nil
}
