package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// internalAccounts is the table internal_accounts.
var internalAccounts = schema.New("internal_accounts", keyOfPlatform, func(a *account.Internal) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "id", Field: &a.ID}, {Name: "customer_id", Field: &a.Customer},
		{Name: "currency", Field: &a.Currency}, {Name: "account_type", Field: &a.Type}, {Name: "status", Field: &a.Status},
		{Name: "reference", Field: &a.Reference}, instructionsColumn(a), {Name: "private_enabled", Field: &a.PrivateEnabled},
		{Name: "created_at", Field: &a.CreatedAt}, {Name: "updated_at", Field: &a.UpdatedAt},
	}
})

// instructionsColumn is the column instructions: JSON, encrypted if a customer owns the account; empty until the rails have
// returned them.
func instructionsColumn(a *account.Internal) schema.Column {
	return sealed.Custom(sealed.InternalAccountsInstructions,
		func(ctx context.Context, c sealed.Cipher, row sealed.Row) ([]byte, error) {
			if a.Instructions == nil {
				return []byte{}, nil
			}
			text, err := encodeInstructions(a.Instructions)
			if err != nil || a.Customer.IsZero() {
				return text, err
			}
			return c.Seal(ctx, row, sealed.InternalAccountsInstructions, text)
		},
		func(ctx context.Context, c sealed.Cipher, row sealed.Row, stored []byte) (err error) {
			a.Instructions, err = openInstructions(ctx, c, row, stored)
			return err
		})
}

var (
	// insertInternalAccounts does not change existing accounts. It uses internal_account_owner_currency_type_unique.
	insertInternalAccounts = internalAccounts.InsertAll("ON CONFLICT DO NOTHING")
	updateInternalAccount  = internalAccounts.Update("private_enabled", "updated_at")
	// setFundingInstructions uses the primary key. $5 says whether the accounts have none yet.
	setFundingInstructions = internalAccounts.UpdateAll("instructions", "updated_at").And(`(t.instructions = '') = $5 RETURNING t.id`)
)

// OpenInternalAccounts opens the accounts that do not exist.
func (u *Unit) OpenInternalAccounts(ctx context.Context, accounts []account.Internal) error {
	return writeAll(ctx, u, insertInternalAccounts, accounts)
}

// UpdateInternalAccount uses the primary key.
func (u *Unit) UpdateInternalAccount(ctx context.Context, a account.Internal) error {
	return writeNow(ctx, u, updateInternalAccount, a, internalAccountNotFound(a.ID))
}

func internalAccountNotFound(id ident.InternalAccount) error {
	return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", id)
}

// AddFundingInstructions stores instructions of accounts that have none, and returns which those are.
func (u *Unit) AddFundingInstructions(ctx context.Context, accounts []account.Internal) ([]ident.InternalAccount, error) {
	return u.setFundingInstructions(ctx, accounts, true)
}

// ReplaceFundingInstructions stores instructions of accounts that have others, and returns which those are.
func (u *Unit) ReplaceFundingInstructions(ctx context.Context, accounts []account.Internal) ([]ident.InternalAccount, error) {
	return u.setFundingInstructions(ctx, accounts, false)
}

func (u *Unit) setFundingInstructions(ctx context.Context, accounts []account.Internal, withoutAny bool) (changed []ident.InternalAccount,
	err error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	columns, err := sealed.AllToWrite(ctx, u.db.sealed, setFundingInstructions, accounts)
	if err != nil {
		return nil, err
	}
	err = u.query(ctx, setFundingInstructions.SQL, append(schema.ArraysOf(columns), withoutAny), func(rows pgx.Rows) error {
		var id ident.InternalAccount
		err := rows.Scan(&id)
		changed = append(changed, id)
		return err
	})
	return changed, err
}

// internalOwner is the customer of an account, or the zero id for the platform. It is written as in internal_accounts_by_owner.
const internalOwner = `CASE WHEN customer_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE customer_id END`

var (
	// internalsByID uses the primary keys of internal_accounts and customers.
	internalsByID = `
	SELECT ` + internalAccounts.Names("a") + `, c.deleted_at FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	JOIN internal_accounts a ON a.platform_id = k.platform_id AND a.id = k.id
	LEFT JOIN customers c ON c.platform_id = a.platform_id AND c.id = a.customer_id`

	// internalsByReference uses internal_account_reference_unique.
	internalsByReference = `
	SELECT ` + referencedAccounts.Names("a") + ` FROM unnest($1::uuid[], $2::text[]) AS k(platform_id, reference)
	JOIN internal_accounts a ON a.platform_id = k.platform_id AND a.reference = k.reference AND a.reference <> ''`
)

// referencedAccounts leave the instructions out, which need not be opened.
var referencedAccounts = internalAccounts.Only("platform_id", "id", "customer_id", "currency", "account_type", "status", "reference",
	"private_enabled", "created_at", "updated_at")

// InternalAccount finds an account by its owner, currency and type. It uses internal_accounts_by_owner.
func (u *Unit) InternalAccount(ctx context.Context, key ports.InternalAccountKey) (account.Internal, bool, error) {
	return selectRow(ctx, u.db, u.query, internalAccounts,
		`WHERE platform_id = $1 AND `+internalOwner+` = $2 AND currency = $3 AND account_type = $4`,
		key.Platform, key.Owner.UUID(), key.Currency, key.Type)
}

// InternalAccountsOf uses internal_accounts_by_owner.
func (u *Unit) InternalAccountsOf(ctx context.Context, p ident.Platform, id ident.Customer) ([]account.Internal, error) {
	return selectRows(ctx, u.db, u.query, internalAccounts, `WHERE platform_id = $1 AND `+internalOwner+` = $2`, p, id.UUID())
}

// LockBalances locks the balances of accounts and then reads the accounts, in one round trip. So a
// deletion of an owner is seen: it locks the balances too (see LockCustomerFunds).
func (u *Unit) LockBalances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]account.WithBalance, error) {
	found := make(map[ledger.Account]account.WithBalance, len(accounts))
	if len(accounts) == 0 {
		return found, nil
	}
	platforms, ids := make([]ident.Platform, len(accounts)), make([]ident.InternalAccount, len(accounts))
	for i, a := range accounts {
		platforms[i] = a.Platform
		ids[i], _ = a.InternalAccount()
	}
	type key struct {
		platform ident.Platform
		id       ident.InternalAccount
	}
	read := make(map[key]account.WithBalance, len(accounts))
	balances, err := u.db.ledgerStore.Balances(ctx, batchedQuerier{u: u, after: func() {
		u.queueQuery(internalsByID, []any{platforms, ids}, func(rows pgx.Rows) error {
			var a account.WithBalance
			err := u.db.sealed.Scan(ctx, rows, internalAccounts.Columns(&a.Internal), &a.OwnerDeletedAt)
			read[key{a.Platform, a.ID}] = a
			return err
		})
	}}, accounts, ledgerdb.Lock)
	for i, a := range accounts {
		locked := read[key{a.Platform, ids[i]}]
		locked.Balance = balances[a]
		found[a] = locked
	}
	return found, err
}

// Balances implements ports.LedgerReader.
func (u *Unit) Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error) {
	return u.db.ledgerStore.Balances(ctx, batchedQuerier{u: u}, accounts, ledgerdb.Read)
}

// InternalAccount uses the primary key.
func (db *DB) InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error) {
	return readByID(ctx, db, internalAccounts, internalAccountNotFound(id), p, id)
}

// InternalAccountsByReference finds accounts by the code in a memo.
func (db *DB) InternalAccountsByReference(ctx context.Context, keys []ports.ReferenceKey) (map[ports.ReferenceKey]account.Internal, error) {
	found := make(map[ports.ReferenceKey]account.Internal, len(keys))
	platforms, references := make([]ident.Platform, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		platforms[i], references[i] = k.Platform, k.Reference
	}
	return found, db.read(ctx, internalsByReference, []any{platforms, references}, func(rows pgx.Rows) error {
		var a account.Internal
		err := sealed.ScanStored(rows, referencedAccounts.Columns(&a))
		found[ports.ReferenceKey{Platform: a.Platform, Reference: a.Reference}] = a
		return err
	})
}

// InternalAccounts uses internal_accounts_by_owner for one
// owner, or the primary key for the accounts of all customers.
func (db *DB) InternalAccounts(ctx context.Context, p ident.Platform, f ports.InternalAccountFilter) (ports.Page[account.Internal], error) {
	l := newList("internal_accounts", p)
	if f.PlatformOwned || !f.Customer.IsZero() { // a zero customer stands for the platform
		l.byIndex(internalOwner+" = ?", f.Customer.UUID())
	} else {
		l.where("customer_id IS NOT NULL")
	}
	l.whereEqual("currency", string(f.Currency))
	l.whereEqual("account_type", string(f.Type))
	if f.IDs != nil {
		l.byIndex("id IN (?)", bun.List(uuids(f.IDs)))
	}
	return selectPage(ctx, db, l, f.Paging, internalAccounts)
}

// InternalAccountsOf uses internal_accounts_by_owner. The zero customer means
// the platform.
func (db *DB) InternalAccountsOf(ctx context.Context, p ident.Platform,
	owners []ident.Customer) (map[ident.Customer][]account.Internal, error) {
	found := make(map[ident.Customer][]account.Internal, len(owners))
	if len(owners) == 0 {
		return found, nil
	}
	accounts, err := selectRows(ctx, db, db.read, internalAccounts, `WHERE platform_id = $1 AND `+internalOwner+` = ANY($2)`, p, uuids(owners))
	for _, a := range accounts {
		found[a.Customer] = append(found[a.Customer], a)
	}
	return found, err
}

func openInstructions(ctx context.Context, c sealed.Cipher, row sealed.Row, stored []byte) ([]account.Instruction, error) {
	text, err := c.Open(ctx, row, sealed.InternalAccountsInstructions, stored)
	if err != nil {
		return nil, err
	}
	instructions, err := decodeInstructions(text)
	if err != nil {
		return nil, fmt.Errorf("internal_accounts.instructions of %s: %w", row.ID, err)
	}
	return instructions, nil
}
