package transaction

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// IncomingParties are the parties of a payment to an internal account. A party that does not exist is
// nil, and so is a deleted external account.
type IncomingParties struct {
	To *account.Internal
	// Owner is the customer who owns To, even if deleted; nil if the platform owns it.
	Owner *customer.Customer
	// From is the external account of a transfer in.
	From *account.External
}

// VisibleTo returns the parties as an agent of a customer sees them: what is not the customer's is nil.
func (p IncomingParties) VisibleTo(c ident.Customer) IncomingParties {
	if p.Owner != nil && p.Owner.ID != c {
		p.Owner = nil
	}
	p.To, p.From = account.InternalOf(c, p.To), account.ExternalOf(c, p.From)
	return p
}

// TransferIn is a request to debit an external account for an internal account of the same currency
// and owner. Amount is in minor units of that currency.
type TransferIn struct {
	Platform ident.Platform
	From     ident.ExternalAccount
	To       ident.InternalAccount
	Amount   int64
}

// Check returns an INVALID_INPUT fault if the amount is invalid regardless of the parties.
func (in TransferIn) Check() error { return checkFields(checkTransferAmount(in.Amount)) }

// Make checks the parties and the balance of the internal account, and returns the transaction,
// which is pending until the rail has collected the money. Faults: EXTERNAL_ACCOUNT_NOT_FOUND,
// INTERNAL_ACCOUNT_NOT_FOUND, INVALID_INPUT, CUSTOMER_DELETED, USER_NOT_READY, INVALID_CURRENCY,
// AMOUNT_OUT_OF_RANGE.
func (in TransferIn) Make(id ident.Transaction, p IncomingParties, balance int64, now time.Time) (Decision, error) {
	if p.From == nil {
		return Decision{}, fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", in.From)
	}
	if err := p.checkReceivable(in.To, "destination.accountId"); err != nil {
		return Decision{}, err
	}
	if p.From.Currency != p.To.Currency {
		return Decision{}, fault.New(fault.InvalidCurrency,
			"The external account is in %s and the internal one in %s. A transfer does not convert; create a quote.", p.From.Currency, p.To.Currency)
	}
	rail, err := p.pullRail()
	if err != nil {
		return Decision{}, err
	}
	payment := p.newPayment(id, in.Amount)
	if err := account.CheckCapacity(balance, payment.Amount); err != nil {
		return Decision{}, err
	}
	payment.Source.ExternalAccount, payment.Rail = p.From.ID, rail
	return payment.RequestFunds(now), nil
}

// pullRail returns the rail that debits the external account, if its owner and kind permit it.
func (p IncomingParties) pullRail() (corridor.Rail, error) {
	var bad []fault.Field
	if p.From.Customer != p.To.Customer {
		bad = append(bad, fault.Field{Field: "source.accountId", Message: "belongs to another owner than the internal account; use an account " +
			"of the same owner"})
	}
	rail, ok := p.From.PullRail()
	if !ok {
		bad = append(bad, fault.Field{Field: "source.accountId",
			Message: "cannot be debited: only active US bank accounts can. Pay in by the fundingPaymentInstructions of the internal account " +
				"instead"})
	}
	if len(bad) > 0 {
		return "", fault.Invalid(bad...)
	}
	return rail, nil
}

// Fund returns the deposit of an amount into an internal account, received now over the currency's
// default rail, and the new balance. Faults: INTERNAL_ACCOUNT_NOT_FOUND, INVALID_INPUT,
// CUSTOMER_DELETED, USER_NOT_READY, AMOUNT_OUT_OF_RANGE.
func (p IncomingParties) Fund(id ident.Transaction, to ident.InternalAccount, minor, balance int64,
	now time.Time) (Decision, int64, error) {
	if err := p.checkReceivable(to, "accountId"); err != nil {
		return Decision{}, balance, err
	}
	payment := p.newPayment(id, minor)
	if err := account.CheckCapacity(balance, payment.Amount); err != nil {
		return Decision{}, balance, err
	}
	payment.Rail, payment.Reference = DefaultFundingRail(p.To.Currency), p.To.Reference
	return payment.Deposit(now), balance + minor, nil
}

// DepositID returns the id of the transaction that deposits the receipt into an account. It is the id
// of the receipt, so that a receipt that is reported several times is deposited once.
func (r Receipt) DepositID() (id ident.Transaction) {
	id.SetUUID(r.ID.UUID())
	return id
}

// Deposit returns the deposit of a receipt into the internal account that its reference names.
// The money has been received even if the deposit is refused: post RejectedByAccount for it then.
// Faults: INTERNAL_ACCOUNT_NOT_FOUND, INVALID_INPUT, CUSTOMER_DELETED, USER_NOT_READY, INVALID_CURRENCY,
// AMOUNT_OUT_OF_RANGE.
func (r Receipt) Deposit(to ident.InternalAccount, p IncomingParties, balance int64) (Decision, error) {
	if err := p.checkReceivable(to, "reference"); err != nil {
		return Decision{}, err
	}
	if p.To.Currency != r.Amount.Currency {
		return Decision{}, fault.New(fault.InvalidCurrency, "The account with this reference holds %s.", p.To.Currency)
	}
	if err := account.CheckCapacity(balance, r.Amount); err != nil {
		return Decision{}, err
	}
	payment := p.newPayment(r.DepositID(), r.Amount.Minor)
	payment.Rail, payment.Receipt, payment.Reference = r.Rail, r.ID, r.Reference
	payment.Originator, payment.Hash = r.Originator, r.TransactionHash
	return payment.Deposit(r.At), nil
}

// UMAPayment returns the transaction for a payment from a UMA address, which waits for the
// platform's approval. Faults: INVALID_RECEIVER, AMOUNT_OUT_OF_RANGE.
func (p IncomingParties) UMAPayment(id ident.Transaction, sender string, minor, balance int64, a Approval, counterparty map[string]string,
	now time.Time) (Decision, error) {
	if !p.To.Usable() {
		return Decision{}, fault.New(fault.InvalidReceiver, "The customer's account in %s is %s and receives no money.",
			p.To.Currency, p.To.Status)
	}
	payment := p.newPayment(id, minor)
	if err := account.CheckCapacity(balance, payment.Amount); err != nil {
		return Decision{}, err
	}
	payment.Source.UMA, payment.ToUMA, payment.Rail = sender, p.Owner.UMAAddress, UMARail
	return payment.RequestApproval(a, counterparty, now), nil
}

// checkReceivable returns a fault if the account or its owner cannot receive money. field is
// the field of the request that named it.
func (p IncomingParties) checkReceivable(id ident.InternalAccount, field string) error {
	switch {
	case p.To == nil:
		return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", id)
	case !p.To.Usable():
		return fault.Invalid(fault.Field{Field: field, Message: "is " + string(p.To.Status) + "; only an ACTIVE account receives money"})
	case p.Owner != nil:
		return p.Owner.CheckReady()
	}
	return nil
}

// newPayment returns a payment to the account whose source is not set yet.
func (p IncomingParties) newPayment(id ident.Transaction, minor int64) IncomingPayment {
	payment := IncomingPayment{ID: id, Platform: p.To.Platform, Customer: p.To.Customer, Account: p.To.ID, AccountPath: p.To.LedgerPath(),
		Amount: money.Amount{Minor: minor, Currency: p.To.Currency}, Reference: NewReference(id)}
	if p.Owner != nil {
		payment.PlatformCustomerID = p.Owner.PlatformCustomerID
	}
	return payment
}

// DefaultFundingRail returns the rail for payments in a currency that name no rail; UnknownRail if
// the currency has none.
func DefaultFundingRail(currency money.Currency) corridor.Rail {
	rails, err := corridor.FundingRails(currency)
	if err != nil {
		return UnknownRail
	}
	return rails[0]
}

// Rails that belong to no corridor.
const (
	// UMARail is the rail between UMA providers.
	UMARail corridor.Rail = "UMA"
	// UnknownRail is the rail of a payment in a currency that no rail supports.
	UnknownRail corridor.Rail = "UNKNOWN"
)
