// Package customer is a person or business that a platform moves money for: what
// is known of them, whether they are verified, and whether they may move money.
//
// It judges requests and statuses, and never verifies anybody itself.
package customer
