package migrations_test

import (
	"database/sql"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"causeway/adapters/pgembed/pgtest"
	"causeway/migrations"
)

const (
	partitioned = `-- +goose Up
CREATE TABLE moves (month int NOT NULL, platform_id int, id int) PARTITION BY RANGE (month);
CREATE INDEX moves_by_id ON moves (platform_id, id);
CREATE TABLE moves_1 PARTITION OF moves FOR VALUES FROM (1) TO (2);
CREATE TABLE moves_2 PARTITION OF moves FOR VALUES FROM (2) TO (3);
INSERT INTO moves SELECT n % 2 + 1, 1, n FROM generate_series(1, 100) n;
`
	replaced = `-- +goose Up
CREATE INDEX moves_by_id_replacement ON ONLY moves (id) WHERE id > 0;
`
)

// indexesOf returns the definitions of the indexes of moves and its partitions, and those that are not valid.
func indexesOf(t *testing.T, db *sql.DB) (definitions []string) {
	t.Helper()
	for _, row := range queryTexts(t, db, `SELECT pg_get_indexdef(indexrelid) || CASE WHEN indisvalid THEN '' ELSE ' INVALID' END
		FROM pg_index WHERE indrelid::regclass::text LIKE 'moves%' ORDER BY indrelid::regclass::text`) {
		definitions = append(definitions, row[0])
	}
	return definitions
}

func TestUp_ReplacesIndexesOfPartitions(t *testing.T) {
	t.Parallel()
	// An index that a file makes for a partitioned table alone is built for each partition, and takes the place and the name of the other
	// one, also if an earlier attempt was interrupted or several processes begin at once. Later partitions have it too.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, numberedFiles(partitioned)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(replaced[len("-- +goose Up\n"):] + `CREATE TABLE moves_3 PARTITION OF moves FOR VALUES FROM (3) TO (4);
		CREATE INDEX moves_2_by_id ON moves_2 (month)`); err != nil { // what an interrupted attempt leaves
		t.Fatal(err)
	}

	var starts sync.WaitGroup
	for range 3 {
		starts.Go(func() {
			if err := migrations.UpFrom(t.Context(), db, numberedFiles(partitioned)); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()

	if _, err := db.Exec("CREATE TABLE moves_4 PARTITION OF moves FOR VALUES FROM (4) TO (5)"); err != nil {
		t.Fatal(err)
	}
	const behind = " USING btree (id) WHERE (id > 0)"
	want := []string{"CREATE INDEX moves_by_id ON ONLY public.moves" + behind, "CREATE INDEX moves_1_by_id ON public.moves_1" + behind,
		"CREATE INDEX moves_2_by_id ON public.moves_2" + behind, "CREATE INDEX moves_3_id_idx ON public.moves_3" + behind,
		"CREATE INDEX moves_4_id_idx ON public.moves_4" + behind}
	if got := indexesOf(t, db); !slices.Equal(got, want) {
		t.Errorf("indexes\n%q\nwant\n%q", got, want)
	}
}

func TestUp_ReplacesLedgerIndexesOfExistingMonths(t *testing.T) {
	t.Parallel()
	// A database of an earlier version with months of postings gets the narrow indexes in every month, and loses the others.
	db := openDB(t, pgtest.NewEmpty(t))
	if err := migrations.UpFrom(t.Context(), db, without(t, "00072_ledger_indexes.sql")); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("SELECT ledger_create_month_partitions(now() + n * interval '1 month') FROM generate_series(-2, 1) n"); err != nil {
		t.Fatal(err)
	}

	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}

	counts := map[string]int{}
	for _, row := range queryTexts(t, db, `SELECT substring(pg_get_indexdef(i.indexrelid) FROM 'USING .*') || i.indisvalid
		FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indrelid WHERE h.inhparent IN ('ledger_entries'::regclass, 'ledger_postings'::regclass)`) {
		counts[row[0]]++
	}
	for _, definition := range []string{"USING btree (debit_account_id, seq)true", "USING btree (credit_account_id, seq)true",
		"USING btree (transaction_id, seq) WHERE (transaction_id IS NOT NULL)true"} {
		if counts[definition] != 4 {
			t.Errorf("%d months have an index %s: %v", counts[definition], definition, counts)
		}
	}
	if len(counts) != 8 { // two primary keys, and three that are as before
		t.Errorf("indexes of the months: %v", counts)
	}
}

// without returns the files but for one.
func without(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	entries, err := migrations.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for _, entry := range entries {
		text, err := migrations.Files.ReadFile(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if entry.Name() != name {
			tree[entry.Name()] = &fstest.MapFile{Data: text}
		}
	}
	return tree
}
