package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
)

// RailFeed is what a partner or a chain reports by itself about one connection.
type RailFeed interface {
	// Poll returns what was reported after a cursor, oldest first, in a piece of bounded size; an empty cursor is
	// the beginning. The caller stores what it was given and then the cursor, so that after a crash the same piece
	// is returned again: everything in it has an id by which it is recognised.
	Poll(ctx context.Context, cursor string) (RailReport, error)
}

// RailReport is a piece of what a partner reports.
type RailReport struct {
	Receipts  []RailReceipt
	Reversals []ReceiptReversal
	// Changed are payments, collections, refunds and receipts sent back about which there is news: they are called about again.
	Changed []RailSubject
	// Contradictions are what was reported and cannot be true beside what the adapter has recorded.
	Contradictions []rail.Contradiction
	Fees           []RailFee
	// Addresses are those that embedded wallets have got.
	Addresses  []WalletAddress
	Balances   []RailBalance
	Statements []RailStatement
	// Raw is what the adapter could not understand. It is kept aside as it came, and holds nothing up.
	Raw []RawReport
	// Problem is what does not work at present, in words for operators; nil if all does. It is recorded as a failure of the
	// feed, which is polled again at its usual pace: how often the adapter tries again what does not work is its decision.
	Problem error
	// Cursor continues after this piece. More means that there is more at once.
	Cursor string
	More   bool
}

// WalletAddress is the address of an embedded wallet on its chain. Reference is that of its account.
type WalletAddress struct {
	Platform    ident.Platform
	Reference   string
	Instruction account.Instruction
}

// MaxRawReport bounds the bytes of a RawReport that are kept.
const MaxRawReport = 1 << 20

// RawReport is a part of what a partner reports, such as an event or a file, that the adapter could not understand.
type RawReport struct {
	// Kind is RailFeedEvent or RailFeedFile, Key is the same for the same report, and Place is where it was: see RailFeedItem.
	Kind  RailFeedItemKind `json:"-"`
	Key   string           `json:"-"`
	Place string           `json:"-"`
	// Problem says why it could not be understood.
	Problem string `json:"-"`
	// Data is the report as it came, or the beginning of it; Size and SHA256, as hex, are of all of it.
	Data   []byte `json:"data"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
}

// RawReportReader is implemented by feeds that report what they could not understand.
type RawReportReader interface {
	// ReadRaw reads such a report again. It returns what the report says, or nothing if Poll will return that; and an error
	// as long as it cannot be understood.
	ReadRaw(ctx context.Context, raw RawReport) (RailReport, error)
}

// RailReceipt is money that was received. Its platform is zero if the partner serves several platforms with one
// account: then it is that of the reference. Its partner's id is never used again, also after a reversal: a transfer on a chain
// that comes back in another block is another receipt, so its id contains the hash of the block, or counts.
type RailReceipt struct {
	transaction.Receipt
	// Payer is the account that it came from; nil if the partner has not named it.
	Payer *account.External
}

// ReceiptReversal says that the partner took back money that was received before: a bank that recalls a payment,
// or a chain whose blocks were replaced.
type ReceiptReversal struct {
	Platform ident.Platform // zero as that of the receipt
	Rail     corridor.Rail
	// Receipt is the partner's id of the money received, and PartnerID that of the reversal.
	Receipt, PartnerID string
	Code, Text         string
	At                 time.Time
}

// RailSubject is a transaction or receipt about which a rail is called.
type RailSubject struct {
	Platform ident.Platform
	Subject  uuid.UUID
}

// RailFee is what a partner or a chain charged for moving money. It is unique by platform, rail and partner's id: what is reported
// with the id of a fee that is posted, and differs, is a contradiction.
type RailFee struct {
	Platform  ident.Platform
	Rail      corridor.Rail
	PartnerID string
	Amount    money.Amount
	At        time.Time
	Memo      string
	// Undated: the partner has named no time, or only a day, so that At may differ when it reports the fee again.
	Undated bool
}

// RailBalance is what an account at a partner, or the addresses on a chain, held at a moment.
type RailBalance struct {
	Amount money.Amount
	At     time.Time
}

// RailBalances is implemented by adapters that can ask for the present balances of their connection.
type RailBalances interface {
	Balances(ctx context.Context) ([]RailBalance, error)
}

// RailStatement is a statement of an account as a file, to be reconciled with the ledger.
type RailStatement struct {
	Name   string // of the file
	Format string // as of reconciliations, such as CAMT053
	Data   []byte
	// Balances are those of the connection that the statement ends with. They count once it is reconciled.
	Balances []RailBalance `json:",omitempty"`
}

// RailTester is implemented by every adapter: Test says whether the connection works, and moves nothing.
type RailTester interface {
	// Test returns what it has checked, in words for operators, and the first thing that is wrong.
	Test(ctx context.Context) (checked []string, err error)
}

// ConnectedRail is the adapter of one connection. It may implement RailFeed and RailBalances too.
type ConnectedRail interface {
	Rail
	RailTester
	// Close releases what the adapter holds; calls that run end first or with an error.
	Close() error
}

// ExclusiveRail is implemented by adapters that work with what only one connection can work with.
type ExclusiveRail interface {
	// Exclusive names it, such as "the wallet 0x… on chain 1": a wallet, an account at a bank, a folder. What two connections
	// may share in parts is named by rail.ExclusivePart. It does no I/O, and shows no secret.
	Exclusive() []string
}

// UnsettledRail is implemented by adapters that move money without payments of connections, such as that of embedded wallets: nothing else
// knows what they have begun.
type UnsettledRail interface {
	// Unsettled names something that the connection has begun and that may still end either way; empty for nothing. It calls no partner.
	Unsettled(ctx context.Context) (string, error)
}
