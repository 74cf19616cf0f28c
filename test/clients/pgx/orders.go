package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/VERSION"
)

func main() {
	ctx := context.Background()
	connection, err := pgx.Connect(ctx, "")
	var customers []string
	for i := 0; i < 1000; i++ {
		customers = append(customers, strconv.Itoa(i))
	}
	_, err = connection.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"customer"},
	    pgx.CopyFromSlice(len(customers), func(i int) ([]any, error) { return []any{customers[i]}, nil }))

	from := time.Date(2025, 11, 20, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 0, 1)
	orders, err := connection.Query(ctx,
	    "SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= $1 AND orders.created_at < $2",
	    from, to)
	rows := 0
	for orders.Next() {
		rows++
	}
	fmt.Println("range", rows)

	err = connection.QueryRow(ctx, "SELECT count(*) FROM orders WHERE id >= $1", from).Scan(&rows)
	if err != nil {
		fmt.Println("untyped fails:", err)
	}
}
