package ledgerdb

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/storage"
	"causeway/core/fault"
)

func TestRowSpool_LargeResultIsInUnnamedFile(t *testing.T) {
	// Not parallel: it sets an environment variable. A result that is larger than the memory of a
	// spool is read back unchanged, from a file that no crash can leave behind.
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for name, count := range map[string]int64{"empty": 0, "in memory": 10, "in a file": 20_000} {
		var spool rowSpool
		rows, err := pgtest.Pool(t, pgtest.New(t), 1).Query(t.Context(),
			`SELECT n, repeat('x', (n % 100)::int), CASE WHEN n % 2 = 0 THEN n::numeric::text END, '2026-03-14Z'::timestamptz FROM generate_series(1, $1::bigint) n`, pgx.QueryExecModeCacheDescribe, count)
		if err != nil {
			t.Fatal(err)
		}
		if err := storage.ForEachRow(rows, spool.add); err != nil {
			t.Fatal(err)
		}

		if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
			t.Errorf("%s: the folder has %v, %v", name, left, err)
		}
		if inFile := spool.file != nil; inFile != (count > 1000) {
			t.Errorf("%s: in a file: %t", name, inFile)
		}
		read := int64(0)
		err = spool.each(func(r row) error {
			read++
			var n int64
			var text string
			var even *string
			if err := r.Scan(&n, &text, &even, nil); err != nil {
				return err
			}
			if n != read || len(text) != int(n%100) || (even != nil) != (n%2 == 0) {
				t.Errorf("%s: row %d is %d, %d characters, %v", name, read, n, len(text), even)
			}
			return nil
		})
		if err != nil || read != count {
			t.Errorf("%s: %d rows, %v", name, read, err)
		}
		if err := spool.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRowSpool_HasMaximumSize(t *testing.T) {
	t.Parallel()
	// A result beyond the maximum size is refused with what to do.
	spool := rowSpool{size: maxSpoolSize - 4}
	if err := spool.write([]byte("12345")); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("%v, want INVALID_INPUT", err)
	}
}
