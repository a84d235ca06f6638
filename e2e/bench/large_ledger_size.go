package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// tableSize is what one table of the ledger takes, in bytes an entry.
type tableSize struct {
	name                 string
	rowBytes, indexBytes float64
}

// A table in partitions takes what its partitions take.
const ledgerSizesSQL = `
SELECT t.relname, sum(pg_table_size(part.relid))::bigint, sum(pg_indexes_size(part.relid))::bigint
FROM pg_class t
CROSS JOIN LATERAL (SELECT t.oid AS relid UNION SELECT p.relid FROM pg_partition_tree(t.oid) p) part
WHERE t.relnamespace = 'public'::regnamespace AND t.relname LIKE 'ledger\_%' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
GROUP BY t.relname
ORDER BY sum(pg_total_relation_size(part.relid)) DESC, t.relname`

// minReportedBytes is how many bytes an entry a table must take to be told of.
const minReportedBytes = 0.5

// measureTableSizes tells of the tables that grow with the books, the largest first.
func (b *bench) measureTableSizes(ctx context.Context, v *ledgerFixture, entries int) (sizes []tableSize, err error) {
	err = b.env.meter.withDatabase(ctx, v.name, func(conn *pgx.Conn) error {
		sizes, err = queryTableSizes(ctx, conn, entries)
		return err
	})
	return sizes, err
}

func queryTableSizes(ctx context.Context, conn *pgx.Conn, entries int) (sizes []tableSize, err error) {
	rows, err := conn.Query(ctx, ledgerSizesSQL)
	if err != nil {
		return nil, err
	}
	var name string
	var table, indexes int64
	_, err = pgx.ForEachRow(rows, []any{&name, &table, &indexes}, func() error {
		size := tableSize{name, float64(table) / float64(entries), float64(indexes) / float64(entries)}
		if size.rowBytes+size.indexBytes >= minReportedBytes {
			sizes = append(sizes, size)
		}
		return nil
	})
	return sizes, err
}

func (r results) largeSizesSection() section {
	s := section{
		title: "The size of large books",
		prose: []string{fmt.Sprintf("Of the books with %s entries, in bytes an entry; %.2f entries are one posting. The log is sealed later, and is not among it.",
			formatThousands(r.largeLedger.large.entriesAfter), float64(r.largeLedger.large.entries)/float64(r.largeLedger.large.postings))},
		columns: []string{"Table", "Rows", "Indexes", "Both"},
	}
	var rows, indexes float64
	line := func(name string, rows, indexes float64) {
		s.rows = append(s.rows, []string{name, fmt.Sprintf("%.1f", rows), fmt.Sprintf("%.1f", indexes), fmt.Sprintf("%.1f", rows+indexes)})
	}
	for _, t := range r.largeLedger.tableSizes {
		line("`"+t.name+"`", t.rowBytes, t.indexBytes)
		rows, indexes = rows+t.rowBytes, indexes+t.indexBytes
	}
	line("All of it", rows, indexes)
	return s
}
