package ledger

import (
	"causeway/core/ident"
	"causeway/core/money"
)

// A platform may charge fees of its own. They are pending until the payment is delivered, and then the platform's: it can have
// them paid to its own balance. A payment that is refunded, also after its delivery, is refunded with them.

// EarningPlatformFees adds to Delivered or WalletCredit that the platform has earned its fees of the payment.
//
//	platform/fees-pending → platform/fees
func (p Posting) EarningPlatformFees(fees money.Amount) Posting {
	return p.with(entry(PlatformFeesPending, PlatformFees, fees))
}

// LosingPlatformFees adds to Returned that the platform has not earned its fees of the payment. If they were paid to it already,
// platform/fees is below zero until later payments have earned as much.
//
//	platform/fees → platform/fees-pending
func (p Posting) LosingPlatformFees(fees money.Amount) Posting {
	return p.with(entry(PlatformFees, PlatformFeesPending, fees))
}

// with adds an entry, unless its amount is zero.
func (p Posting) with(e Entry) Posting {
	if e.Amount != 0 {
		p.Entries = append(p.Entries[:len(p.Entries):len(p.Entries)], e)
	}
	return p
}

// PlatformFeesPaid records that fees which a platform has earned are paid to its own balance.
//
//	platform/fees → platform/<InternalAccount>
func PlatformFeesPaid(h Header, to ident.InternalAccount, amount money.Amount) Posting {
	return h.posting(KindPlatformFees, entry(PlatformFees, PlatformAccount(to), amount))
}
