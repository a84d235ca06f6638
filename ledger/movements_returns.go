package ledger

import (
	"causeway/core/ident"
	"causeway/core/money"
)

// The bank of a payer takes back money that was collected from its account. The owner of the internal account
// then owes it, because the money may be spent.

// CollectionReturned records that the partner has taken back collected money, in full. It is owed by the owner
// of an internal account.
//
//	customer-receivables/<InternalAccount> → account at the partner
func CollectionReturned(h Header, partner string, owedBy ident.InternalAccount, amount money.Amount) Posting {
	return h.posting(KindCollectionReturned, entry(CustomerReceivable(owedBy), partner, amount))
}

// ReceivableCollected records that money on the internal account pays what is owed. account is the path of its balance.
//
//	account → customer-receivables/<InternalAccount>
func ReceivableCollected(h Header, account string, owedBy ident.InternalAccount, amount money.Amount) Posting {
	return h.posting(KindReceivableCollected, entry(account, CustomerReceivable(owedBy), amount))
}

// ReceivableWrittenOff records that what is owed is given up.
//
//	expense/write-offs → customer-receivables/<InternalAccount>
func ReceivableWrittenOff(h Header, owedBy ident.InternalAccount, amount money.Amount) Posting {
	return h.posting(KindReceivableWrittenOff, entry(ExpenseWriteOffs, CustomerReceivable(owedBy), amount))
}
