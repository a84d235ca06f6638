package ports

import (
	"context"

	"causeway/core/ethereum"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/wallet"
)

// WalletChain moves the coins of embedded wallets on their chain. Every call is idempotent by the id of
// the transaction: a repeated call moves the coins once and returns the same outcome.
type WalletChain interface {
	// Settlement returns how payments of wallets move, which their owners sign; nil if the chain is simulated. It returns a fault if
	// no payment can be made now.
	Settlement(ctx context.Context) (*wallet.Settlement, error)
	// Debit transfers coins from wallets; one outcome per transfer. A transfer that the key of the
	// wallet has not signed is refused.
	Debit(ctx context.Context, transfers []WalletTransfer) []Outcome
	// Credit transfers coins to wallets; one outcome per credit.
	Credit(ctx context.Context, credits []WalletCredit) []Outcome
}

// WalletTransfer is a transfer from a wallet. If the payload says how the payment moves on a chain, that has it signed by TransferKeys;
// otherwise the key of the wallet has certified the statement of the transfer.
type WalletTransfer struct {
	wallet.Transfer
	Wallet      WalletID
	Certificate wallet.Certificate
}

// TransferKeys sign for a chain what the owners of wallets have signed.
type TransferKeys interface {
	// Address returns the address of a wallet, as Custody does.
	Address(ctx context.Context, w WalletID) (ethereum.Address, error)
	// SignTransfer signs the transfer of a payment from a wallet, as Custody does, by the evidence that is stored of the payment.
	SignTransfer(ctx context.Context, payment TransactionKey, terms wallet.Terms) (wallet.SignedTransfer, error)
}

// WalletCredit is a transfer to a wallet. A payment and its refund are two of them.
type WalletCredit struct {
	Transaction transaction.Transaction
	Wallet      WalletID
	// Key is the key of the wallet, from which its address on the chain follows.
	Key    wallet.Key
	Amount money.Amount
	// Refunded is the payment that is refunded; nil for a payment to the wallet.
	Refunded *Payout
	// Credited: the ledger shows the amount in the wallet already, so a transfer that has failed for good is not refused, but made again.
	Credited bool
}

// WalletChains selects the chain of the wallets of a platform.
type WalletChains interface {
	// ChainFor returns NOT_IMPLEMENTED if no chain is connected for the platform's environment.
	ChainFor(p ident.Platform) (WalletChain, error)
}

// WalletChainsByEnvironment holds the chain of each environment; an environment may have none.
type WalletChainsByEnvironment map[platform.Environment]WalletChain

// WalletPayment is an executed payment from a wallet with its evidence.
type WalletPayment struct {
	Transaction transaction.Transaction
	Environment platform.Environment
	// Authorization is nil if there is none.
	Authorization *wallet.Authorization
	// WalletKey is the key of the wallet; zero if it has none.
	WalletKey wallet.Key
	// Unreadable is why the payload, which is empty then, cannot be decrypted: ErrNoMasterKey without the
	// master key, and else ErrCannotDecrypt.
	Unreadable error
}
