package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// internalRow is a row of internal_accounts.
type internalRow struct {
	bun.BaseModel `bun:"table:internal_accounts"`

	PlatformID uuid.UUID     `bun:"platform_id,pk"`
	ID         uuid.UUID     `bun:"id,pk"`
	CustomerID uuid.NullUUID `bun:"customer_id"`
	Currency   string        `bun:"currency"`
	Type       string        `bun:"account_type"`
	Status     string        `bun:"status"`
	Reference  string        `bun:"reference"`
	// Instructions are JSON, encrypted if a customer owns the account; empty until the rails have returned them.
	Instructions   string    `bun:"instructions"`
	PrivateEnabled bool      `bun:"private_enabled"`
	CreatedAt      time.Time `bun:"created_at"`
	UpdatedAt      time.Time `bun:"updated_at"`
}

// insertInternalAccounts does not change existing accounts. It uses
// internal_account_owner_currency_type_unique.
const insertInternalAccounts = `
	INSERT INTO internal_accounts (platform_id, id, customer_id, currency, account_type, status, reference, instructions, created_at, updated_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::timestamptz[])
	ON CONFLICT DO NOTHING`

// internalAccountColumns are the arguments of insertInternalAccounts.
type internalAccountColumns struct {
	platforms, ids, customers                             idArray
	currencies, types, statuses, references, instructions []string
	created, updated                                      timeArray
}

// internalAccountColumns returns the columns of accounts, with their encrypted instructions.
func (db *DB) internalAccountColumns(ctx context.Context, accounts []account.Internal) (internalAccountColumns, error) {
	n := len(accounts)
	c := internalAccountColumns{make(idArray, n), make(idArray, n), make(idArray, n),
		make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make(timeArray, n), make(timeArray, n)}
	for i, a := range accounts {
		c.platforms[i], c.ids[i], c.customers[i] = pgID(a.Platform.UUID()), pgID(a.ID.UUID()), pgID(a.Customer.UUID())
		c.currencies[i], c.types[i], c.statuses[i] = string(a.Currency), string(a.Type), string(a.Status)
		c.created[i], c.updated[i], c.references[i] = pgTime(a.CreatedAt), pgTime(a.UpdatedAt), a.Reference
		var err error
		if c.instructions[i], err = db.sealInstructions(ctx, a); err != nil {
			return c, err
		}
	}
	return c, nil
}

// of returns the columns of the accounts of some customers.
func (c internalAccountColumns) of(customers map[uuid.UUID]bool) (kept internalAccountColumns) {
	for i, owner := range c.customers {
		if !customers[owner.Bytes] {
			continue
		}
		kept.platforms, kept.ids, kept.customers = append(kept.platforms, c.platforms[i]), append(kept.ids, c.ids[i]), append(kept.customers, owner)
		kept.currencies, kept.types, kept.statuses = append(kept.currencies, c.currencies[i]), append(kept.types, c.types[i]), append(kept.statuses, c.statuses[i])
		kept.references, kept.instructions = append(kept.references, c.references[i]), append(kept.instructions, c.instructions[i])
		kept.created, kept.updated = append(kept.created, c.created[i]), append(kept.updated, c.updated[i])
	}
	return kept
}

func (u *unit) insertInternalAccounts(c internalAccountColumns) {
	if len(c.ids) > 0 {
		u.queueExec(insertInternalAccounts, c.platforms, c.ids, c.customers, c.currencies, c.types, c.statuses, c.references, c.instructions, c.created, c.updated)
	}
}

// OpenInternalAccounts opens the accounts that do not exist.
func (u *unit) OpenInternalAccounts(ctx context.Context, accounts []account.Internal) error {
	columns, err := u.db.internalAccountColumns(ctx, accounts)
	if err == nil {
		u.insertInternalAccounts(columns)
	}
	return err
}

// setFundingInstructions uses the primary key.
const setFundingInstructions = `
	UPDATE internal_accounts a SET instructions = k.instructions, updated_at = k.updated_at
	FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) AS k(platform_id, id, instructions, updated_at)
	WHERE a.platform_id = k.platform_id AND a.id = k.id AND (a.instructions = '') = $5`

// AddFundingInstructions stores instructions of accounts that have none.
func (u *unit) AddFundingInstructions(ctx context.Context, accounts []account.Internal) error {
	return u.setFundingInstructions(ctx, accounts, true)
}

// ReplaceFundingInstructions stores instructions of accounts that have others.
func (u *unit) ReplaceFundingInstructions(ctx context.Context, accounts []account.Internal) error {
	return u.setFundingInstructions(ctx, accounts, false)
}

func (u *unit) setFundingInstructions(ctx context.Context, accounts []account.Internal, withoutAny bool) error {
	if len(accounts) == 0 {
		return nil
	}
	n := len(accounts)
	platforms, ids, instructions, updated := make(idArray, n), make(idArray, n), make([]string, n), make(timeArray, n)
	for i, a := range accounts {
		platforms[i], ids[i], updated[i] = pgID(a.Platform.UUID()), pgID(a.ID.UUID()), pgTime(a.UpdatedAt)
		var err error
		if instructions[i], err = u.db.sealInstructions(ctx, a); err != nil {
			return err
		}
	}
	u.queueExec(setFundingInstructions, platforms, ids, instructions, updated, withoutAny)
	return nil
}

const (
	// internalColumns are the columns that scanInternal reads, of internal_accounts a.
	internalColumns = `a.platform_id, a.id, a.customer_id, a.currency, a.account_type, a.status, a.reference, a.instructions, a.private_enabled, a.created_at, a.updated_at`

	// internalOwner is the customer of an account, or the zero id for the platform. It is written
	// as in internal_accounts_by_owner.
	internalOwner = `CASE WHEN customer_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE customer_id END`

	// internalByOwner uses internal_accounts_by_owner.
	internalByOwner = `
	SELECT ` + internalColumns + ` FROM internal_accounts a
	WHERE a.platform_id = $1 AND ` + internalOwner + ` = $2 AND a.currency = $3 AND a.account_type = $4`

	// internalsByID uses the primary keys of internal_accounts and customers.
	internalsByID = `
	SELECT ` + internalColumns + `, c.deleted_at FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	JOIN internal_accounts a ON a.platform_id = k.platform_id AND a.id = k.id
	LEFT JOIN customers c ON c.platform_id = a.platform_id AND c.id = a.customer_id`

	// internalsByReference uses internal_account_reference_unique.
	internalsByReference = `
	SELECT a.platform_id, a.id, a.customer_id, a.currency, a.account_type, a.status, a.reference, '', a.private_enabled, a.created_at, a.updated_at
	FROM unnest($1::uuid[], $2::text[]) AS k(platform_id, reference)
	JOIN internal_accounts a ON a.platform_id = k.platform_id AND a.reference = k.reference AND a.reference <> ''`
)

// InternalAccount finds an account by its owner, currency and type.
func (u *unit) InternalAccount(ctx context.Context, key ports.InternalAccountKey) (account.Internal, bool, error) {
	var a account.Internal
	found := false
	err := u.query(ctx, internalByOwner, []any{key.Platform.UUID(), key.Owner.UUID(), string(key.Currency), string(key.Type)}, func(rows pgx.Rows) (err error) {
		a, err = u.db.scanInternal(ctx, rows)
		found = true
		return err
	})
	return a, found, err
}

// InternalAccountsOf uses internal_accounts_by_owner.
func (u *unit) InternalAccountsOf(ctx context.Context, p ident.Platform, id ident.Customer) ([]account.Internal, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	var rows []internalRow
	if err := u.db.bun.NewSelect().Conn(u.sqlConn).Model(&rows).Where("platform_id = ?", p.UUID()).Where(internalOwner+" = ?", id.UUID()).Scan(ctx); err != nil {
		return nil, err
	}
	accounts := make([]account.Internal, len(rows))
	for i := range rows {
		var err error
		if accounts[i], err = rows[i].internal(ctx, u.db); err != nil {
			return nil, err
		}
	}
	return accounts, nil
}

// LockBalances locks the balances of accounts and then reads the accounts, in one round trip. So a
// deletion of an owner is seen: it locks the balances too (see LockCustomerFunds).
func (u *unit) LockBalances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]account.WithBalance, error) {
	found := make(map[ledger.Account]account.WithBalance, len(accounts))
	if len(accounts) == 0 {
		return found, nil
	}
	n := len(accounts)
	platforms, ids := make(idArray, n), make(idArray, n)
	for i, a := range accounts {
		owner, _ := a.InternalAccount()
		platforms[i], ids[i] = pgID(a.Platform.UUID()), pgID(owner.UUID())
	}
	type key struct {
		platform ident.Platform
		id       ident.InternalAccount
	}
	read := make(map[key]account.WithBalance, n)
	balances, err := u.db.ledgerStore.Balances(ctx, batchedQuerier{u: u, after: func() {
		u.queueQuery(internalsByID, []any{platforms, ids}, func(rows pgx.Rows) error {
			var ownerDeleted *time.Time
			a, err := u.db.scanInternal(ctx, rows, &ownerDeleted)
			read[key{a.Platform, a.ID}] = account.WithBalance{Internal: a, OwnerDeletedAt: timeOrZero(ownerDeleted)}
			return err
		})
	}}, accounts, ledgerdb.Lock)
	for _, a := range accounts {
		owner, _ := a.InternalAccount()
		locked := read[key{a.Platform, owner}]
		locked.Balance = balances[a]
		found[a] = locked
	}
	return found, err
}

// Balances implements ports.LedgerReader.
func (u *unit) Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error) {
	return u.db.ledgerStore.Balances(ctx, batchedQuerier{u: u}, accounts, ledgerdb.Read)
}

// InternalAccount uses the primary key.
func (db *DB) InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error) {
	var row internalRow
	err := db.bun.NewSelect().Model(&row).Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()).Scan(ctx)
	if isNoRows(err) {
		return account.Internal{}, internalAccountNotFound(id)
	}
	if err != nil {
		return account.Internal{}, err
	}
	return row.internal(ctx, db)
}

// InternalAccountsByReference finds accounts by the code in a memo.
func (db *DB) InternalAccountsByReference(ctx context.Context, keys []ports.ReferenceKey) (map[ports.ReferenceKey]account.Internal, error) {
	found := make(map[ports.ReferenceKey]account.Internal, len(keys))
	platforms, references := make(idArray, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		platforms[i], references[i] = pgID(k.Platform.UUID()), k.Reference
	}
	rows, err := db.pool.Query(ctx, internalsByReference, pgx.QueryExecModeCacheStatement, platforms, references)
	if err != nil {
		return nil, err
	}
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		a, err := db.scanInternal(ctx, rows)
		found[ports.ReferenceKey{Platform: a.Platform, Reference: a.Reference}] = a
		return err
	})
}

// InternalAccounts uses internal_accounts_by_owner for one
// owner, or the primary key for the accounts of all customers.
func (db *DB) InternalAccounts(ctx context.Context, p ident.Platform, f ports.InternalAccountFilter) (ports.Page[account.Internal], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	if f.PlatformOwned || !f.Customer.IsZero() { // a zero customer stands for the platform
		l.query = l.query.Where(internalOwner+" = ?", f.Customer.UUID())
	} else {
		l.where("customer_id IS NOT NULL")
	}
	l.whereEqual("currency", string(f.Currency))
	l.whereEqual("account_type", string(f.Type))
	if f.IDs != nil {
		ids := make([]uuid.UUID, len(f.IDs))
		for i, id := range f.IDs {
			ids[i] = id.UUID()
		}
		l.query = l.query.Where("id IN (?)", bun.List(ids))
	}
	found, err := selectBunPage(ctx, db, l, f.Paging, func(row *internalRow) *internalRow { return row })
	accounts := ports.Page[account.Internal]{More: found.More, Total: found.Total, TotalIsMinimum: found.TotalIsMinimum}
	for i := 0; err == nil && i < len(found.Items); i++ {
		var a account.Internal
		a, err = found.Items[i].internal(ctx, db)
		accounts.Items = append(accounts.Items, a)
	}
	return accounts, err
}

// InternalAccountsOf uses internal_accounts_by_owner. The zero customer means
// the platform.
func (db *DB) InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error) {
	found := make(map[ident.Customer][]account.Internal, len(owners))
	if len(owners) == 0 {
		return found, nil
	}
	ids := make([]uuid.UUID, len(owners))
	for i, owner := range owners {
		ids[i] = owner.UUID()
	}
	var rows []internalRow
	if err := db.bun.NewSelect().Model(&rows).Where("platform_id = ?", p.UUID()).
		Where(internalOwner+" IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, err
	}
	for i := range rows {
		a, err := rows[i].internal(ctx, db)
		if err != nil {
			return nil, err
		}
		found[a.Customer] = append(found[a.Customer], a)
	}
	return found, nil
}

func (db *DB) scanInternal(ctx context.Context, rows pgx.Rows, further ...any) (account.Internal, error) {
	var row internalRow
	if err := rows.Scan(append([]any{&row.PlatformID, &row.ID, &row.CustomerID, &row.Currency, &row.Type, &row.Status,
		&row.Reference, &row.Instructions, &row.PrivateEnabled, &row.CreatedAt, &row.UpdatedAt}, further...)...); err != nil {
		return account.Internal{}, err
	}
	return row.internal(ctx, db)
}

func (row *internalRow) internal(ctx context.Context, db *DB) (account.Internal, error) {
	a := account.Internal{
		Currency: money.Currency(row.Currency), Type: account.InternalType(row.Type), Status: account.InternalStatus(row.Status),
		Reference: row.Reference, PrivateEnabled: row.PrivateEnabled, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
	}
	a.Platform.SetUUID(row.PlatformID)
	a.ID.SetUUID(row.ID)
	a.Customer.SetUUID(row.CustomerID.UUID)
	var err error
	a.Instructions, err = db.openInstructions(ctx, row.PlatformID, row.ID, row.Instructions)
	return a, err
}

// sealInstructions returns the column of an account's instructions: the empty text if it has none, and
// those of a platform as they are.
func (db *DB) sealInstructions(ctx context.Context, a account.Internal) (string, error) {
	if a.Instructions == nil {
		return "", nil
	}
	text, err := json.Marshal(a.Instructions)
	if err != nil || a.Customer.IsZero() {
		return string(text), err
	}
	return db.sealText(ctx, sealedRow{a.Platform.UUID(), a.ID.UUID()}, internalAccountsInstructions, string(text))
}

func (db *DB) openInstructions(ctx context.Context, platform, id uuid.UUID, stored string) (instructions []account.Instruction, err error) {
	text, err := db.openText(ctx, sealedRow{platform, id}, internalAccountsInstructions, stored)
	if err != nil || text == "" {
		return nil, err
	}
	err = json.Unmarshal([]byte(text), &instructions)
	return instructions, err
}
