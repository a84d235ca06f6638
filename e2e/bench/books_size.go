package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// tableSize is what one table of the ledger takes, in bytes an entry.
type tableSize struct {
	name          string
	rows, indexes float64
}

// A table in partitions takes what its partitions take.
const ledgerSizes = `
SELECT t.relname, sum(pg_table_size(part.relid))::bigint, sum(pg_indexes_size(part.relid))::bigint
FROM pg_class t
CROSS JOIN LATERAL (SELECT t.oid AS relid UNION SELECT p.relid FROM pg_partition_tree(t.oid) p) part
WHERE t.relnamespace = 'public'::regnamespace AND t.relname LIKE 'ledger\_%' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
GROUP BY t.relname
ORDER BY sum(pg_total_relation_size(part.relid)) DESC, t.relname`

// worthTelling is how many bytes an entry a table must take to be told of.
const worthTelling = 0.5

// measureSizes tells of the tables that grow with the books, the largest first.
func (b *bench) measureSizes(ctx context.Context, v *volume, entries int) (sizes []tableSize, err error) {
	err = b.rig.meter.within(ctx, v.name, func(conn *pgx.Conn) error {
		sizes, err = sizesIn(ctx, conn, entries)
		return err
	})
	return sizes, err
}

func sizesIn(ctx context.Context, conn *pgx.Conn, entries int) (sizes []tableSize, err error) {
	rows, err := conn.Query(ctx, ledgerSizes)
	if err != nil {
		return nil, err
	}
	var name string
	var table, indexes int64
	_, err = pgx.ForEachRow(rows, []any{&name, &table, &indexes}, func() error {
		size := tableSize{name, float64(table) / float64(entries), float64(indexes) / float64(entries)}
		if size.rows+size.indexes >= worthTelling {
			sizes = append(sizes, size)
		}
		return nil
	})
	return sizes, err
}

func (r results) sizeOfLarge() section {
	s := section{
		title: "The size of large books",
		prose: []string{fmt.Sprintf("Of the books with %s entries, in bytes an entry; %.2f entries are one posting. The log is sealed later, and is not among it.",
			grouped(r.large.large.after), float64(r.large.large.entries)/float64(r.large.large.postings))},
		head: []string{"Table", "Rows", "Indexes", "Both"},
	}
	var rows, indexes float64
	line := func(name string, rows, indexes float64) {
		s.rows = append(s.rows, []string{name, fmt.Sprintf("%.1f", rows), fmt.Sprintf("%.1f", indexes), fmt.Sprintf("%.1f", rows+indexes)})
	}
	for _, t := range r.large.sizes {
		line("`"+t.name+"`", t.rows, t.indexes)
		rows, indexes = rows+t.rows, indexes+t.indexes
	}
	line("All of it", rows, indexes)
	return s
}
