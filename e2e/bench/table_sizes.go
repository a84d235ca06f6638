package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// tableSize is the size of a table in bytes. A partitioned table has the size of its partitions.
type tableSize struct {
	Name          string
	Rows, Indexes float64
}

const tableSizesSQL = `
SELECT t.relname, sum(pg_table_size(part.relid))::float8, sum(pg_indexes_size(part.relid))::float8
FROM pg_class t
CROSS JOIN LATERAL (SELECT t.oid AS relid UNION SELECT p.relid FROM pg_partition_tree(t.oid) p) part
WHERE t.relnamespace = 'public'::regnamespace AND t.relname LIKE $1 AND t.relkind IN ('r', 'p') AND NOT t.relispartition
GROUP BY t.relname`

// tableSizes returns the sizes of the tables with names like a pattern.
func (b *bench) tableSizes(ctx context.Context, database, pattern string) []tableSize {
	return queryIn[tableSize](ctx, b.meter, database, tableSizesSQL, pattern)
}

// addTableSizes adds the bytes for each of n things of the tables with at least half a byte for each, the largest first, and
// their total. What they had before is not counted.
func (r report) addTableSizes(to section, sizes, before []tableSize, n float64) {
	total := tableSize{Name: "Total"}
	var grown []tableSize
	for _, s := range sizes {
		for _, earlier := range before {
			if earlier.Name == s.Name {
				s.Rows, s.Indexes = s.Rows-earlier.Rows, s.Indexes-earlier.Indexes
			}
		}
		if s.Rows, s.Indexes = s.Rows/n, s.Indexes/n; s.Rows+s.Indexes >= 0.5 {
			grown = append(grown, s)
			total.Rows, total.Indexes = total.Rows+s.Rows, total.Indexes+s.Indexes
		}
	}
	slices.SortFunc(grown, func(x, y tableSize) int { return cmp.Compare(y.Rows+y.Indexes, x.Rows+x.Indexes) })
	for _, s := range append(grown, total) {
		r.add(to, s.Name, fmt.Sprintf("%.1f", s.Rows), fmt.Sprintf("%.1f", s.Indexes), fmt.Sprintf("%.1f", s.Rows+s.Indexes))
	}
}
