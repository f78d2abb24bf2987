-- By which the refresh functions find a set.
ALTER TABLE refresh_orders ADD PRIMARY KEY (rf_set, o_orderkey);
ALTER TABLE refresh_lineitem ADD PRIMARY KEY (rf_set, l_orderkey, l_linenumber);
