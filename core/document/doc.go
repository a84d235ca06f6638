// Package document defines the documents of customers and beneficial owners: which types there are,
// which fields each needs, and when a document may be replaced or deleted.
//
// It checks what a platform says about a document. It never judges what a document shows.
package document
